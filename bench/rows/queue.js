/** tab.queue(), compared with fixed targets, with its peers, and with the browser's own locks. */

import { join } from 'node:path';
import { call, PEERS } from '../lib/context.js';

/** Rounds before the first that counts. Engines need some seconds to compile the functions that are called often. */
const WARMUPS = 3;
const ROUNDS = 9;
const CRASHES = 15;
const JOBS = 5_000;
const MANY = 100_000;
const FEW = 1_000;
const LONG = 20_000;
/** How many of the LONG jobs p-queue does: each takes it milliseconds. */
const OF_LONG = 200;

/** @typedef {import('../lib/context.js').Tab} Tab */

/** The peers as one module that a page can import. */
async function bundlePeers() {
    const esbuild = await import('esbuild');
    await esbuild.build({
        stdin: {
            contents: `export { Queue } from 'workbox-background-sync'; export { default as PQueue } from 'p-queue';`,
            resolveDir: process.cwd(),
        },
        outfile: join(PEERS, 'queue-peers.js'),
        bundle: true,
        format: 'esm',
        define: { 'process.env.NODE_ENV': '"production"' },
    });
}

/** @param {number} rounds @param {() => Promise<number>} measure */
async function samplesOf(rounds, measure) {
    for (let round = 0; round < WARMUPS; round++) await measure();
    const samples = [];
    for (let round = 0; round < rounds; round++) samples.push(await measure());
    return samples;
}

/**
 * Measures the time from the crash of the tab that holds a job or a lock until the tab that waits begins. The two
 * subjects alternate.
 *
 * @param {import('../lib/context.js').Context} context
 */
async function takeOver({ openTab }) {
    /** @type {{ ours: number[], peer: number[] }} */
    const samples = { ours: [], peer: [] };
    const next = await openTab('queue.html');
    await call(next, 'start', 'queue');
    for (let crash = 0; crash < 2 * CRASHES; crash++) {
        const subject = crash % 2 === 0 ? 'ours' : 'peer';
        const name = `${subject} ${crash}`;
        const victim = await openTab('queue.html');
        await call(victim, 'start', 'queue');
        await call(victim, 'hold', subject, name);
        if (subject === 'ours') await call(victim, 'ask', name);
        await call(victim, 'held', subject);
        await call(next, 'hold', subject, name);
        await call(next, 'start', 'queue'); // its wait has begun
        const killed_ms = Date.now();
        void victim.send('Page.crash').catch(() => {}); // it never answers
        samples[subject].push((await call(next, 'held', subject)) - killed_ms);
        await victim.close().catch(() => {});
    }
    await next.close();
    return samples;
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function queue(context) {
    await bundlePeers();
    const tab = await context.openTab('queue.html');
    await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await call(tab, 'start', 'queue', true);
    const batches = await samplesOf(ROUNDS, () => call(tab, 'enqueueBatches', 5, 1_000));
    // Both alternate, since the disk determines their speed, and that varies.
    /** @type {number[]} */
    const bare = [];
    const strict = await samplesOf(ROUNDS, async () => {
        bare.push(await call(tab, 'writeStrict', 200));
        return call(tab, 'enqueueStrict', 200);
    });
    let last = 0;
    /** Does all of `queued` jobs. Returns jobs a second. @param {number} queued */
    const consume = async (queued) => {
        const name = `jobs ${++last}`;
        for (let filled = 0; filled < queued; filled += JOBS)
            await call(tab, 'fill', name, Math.min(queued, JOBS));
        return call(tab, 'consume', name, queued);
    };
    const done = await samplesOf(ROUNDS, () => consume(JOBS));
    const ofLong = await samplesOf(ROUNDS, () => consume(LONG));
    const workbox = await samplesOf(ROUNDS, () => call(tab, 'consumeWorkbox', 300));
    const pQueue = await samplesOf(ROUNDS, () => call(tab, 'consumePQueue', JOBS, JOBS));
    const pQueueOfLong = await samplesOf(ROUNDS, () => call(tab, 'consumePQueue', LONG, OF_LONG));
    // Both alternate: after so many jobs, the browser compacts its files on the disk for a while, which slows either.
    /** @type {{ ours: number[], peer: number[] }} */
    const ofMany = { ours: [], peer: [] };
    for (let round = 0; round < ROUNDS; round++) {
        ofMany.peer.push(await consume(FEW));
        if (round % 3 === 0) ofMany.ours.push(await consume(MANY));
    }
    await tab.close();
    const over = await takeOver(context);
    /** @param {number[]} samples */
    const inverse = (samples) => samples.map((rate) => 1e6 / rate);
    return [
        {
            name: 'enqueue with receipts, batches',
            unit: '1/s',
            peer: 'the target',
            samples: { ours: batches, peer: [5_000] },
            target: { least: 1 },
        },
        {
            name: 'enqueue with receipts, one by one, strict',
            unit: '1/s',
            peer: 'the target',
            samples: { ours: strict, peer: [500] },
            target: { least: 1 },
        },
        {
            name: 'enqueue with receipts, one by one, strict',
            unit: '1/s',
            peer: 'a bare transaction each',
            samples: { ours: strict, peer: bare },
            target: { least: 0.8 },
        },
        {
            name: 'trivial jobs through one consumer',
            unit: '1/s',
            peer: 'workbox-background-sync',
            samples: { ours: done, peer: workbox },
            target: { least: 20 },
        },
        {
            name: 'trivial jobs through one consumer',
            unit: '1/s',
            peer: 'p-queue on localStorage',
            samples: { ours: done, peer: pQueue },
            target: { least: 20 },
        },
        {
            name: 'of 20,000 queued',
            unit: '1/s',
            peer: 'p-queue on localStorage',
            samples: { ours: ofLong, peer: pQueueOfLong },
            target: { least: 20 },
        },
        {
            name: 'a job of 100,000 queued',
            unit: 'µs',
            peer: 'of 1,000 queued',
            samples: { ours: inverse(ofMany.ours), peer: inverse(ofMany.peer) },
            target: { most: 1 },
        },
        {
            name: 'take-over after a killed consumer',
            unit: 'ms',
            peer: 'navigator.locks',
            samples: over,
            target: { most: 1.5 },
        },
    ];
}
