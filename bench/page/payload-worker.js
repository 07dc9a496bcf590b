// @ts-ignore: served by the benchmarks' server
import { attach } from '/dist/web/tabacus-worker.js';

onmessage = async ({ data: handle }) => {
    const shared = await attach(handle);
    shared.counter('clicks').add(1);
    postMessage('done');
};
