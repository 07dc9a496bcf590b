/** A Worker of the user: it attaches and adds one. */

// @ts-ignore: served by the tests' server
import { attach } from '/dist/web/tabacus-worker.js';

onmessage = async ({ data: handle }) => {
    const shared = await attach(handle);
    postMessage(shared.counter('attached', { kind: 'atomic' }).add(1));
};
