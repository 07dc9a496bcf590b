/** Minimal pages: one that counts, one that shares a counter with threads too, and one whose threads count. */

async function count() {
    // @ts-ignore: served by the benchmarks' server
    const { open } = await import('/dist/web/tabacus.js');
    const tab = await open({ namespace: 'payload' });
    const visits = tab.counter('visits');
    visits.add(1);
    await visits.flush();
}

async function countShared() {
    await count();
    // @ts-ignore: served by the benchmarks' server
    const { threads } = await import('/dist/web/tabacus-threads.js');
    const shared = await threads();
    const clicks = shared.counter('clicks');
    clicks.add(1);
    return { shared, clicks };
}

async function countInThreads() {
    const { shared, clicks } = await countShared();
    const worker = new Worker('/payload-worker.js', { type: 'module' });
    const worked = new Promise((resolve) => {
        worker.onmessage = resolve;
    });
    worker.postMessage(shared.handle);
    await Promise.all([worked, shared.hammer(clicks, { threads: 1, adds: 1 })]);
}

Object.assign(globalThis, {
    bench: { count, countShared: () => countShared().then(() => {}), countInThreads },
});
