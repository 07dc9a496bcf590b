/** Queues of tabs of an earlier version and of the present one: each job runs once, in either. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { besideEachVersion, sleep } from './both-versions.js';

/** @typedef {import('tabacus').Tab} Tab */

besideEachVersion(({ underSeeds, inBothRoles }) => {
    it(
        'jobs that both versions enqueue and handle run once each, and each result reaches its tab',
        underSeeds(async ({ tabs, pages }) => {
            /** @type {Map<string, string>} */
            const ran = new Map();
            const queue = (/** @type {Tab} */ tab) => tab.queue('q', { concurrency: 2 });
            // The tabs handle different kinds, since one that handles all kinds may keep the slots and do
            // all the work.
            const versions = ['earlier', 'present'];
            for (const [at, tab] of tabs.entries()) {
                queue(tab).handle(String(versions[at % 2]), async ({ payload, kind }) => {
                    assert.ok(!ran.has(payload.job), payload.job);
                    ran.set(payload.job, kind);
                    await sleep(pages[at], 15);
                    return new Map([[payload.job, payload.bytes]]);
                });
            }
            const jobs = tabs.flatMap((tab, at) =>
                [0, 1, 2, 3, 4, 5].map(async (n) => {
                    const job = `${at} ${n}`;
                    const bytes = n < 3 ? new Uint8Array([at, n]) : undefined; // the other payloads are JSON
                    const { result } = await queue(tab).enqueue(
                        { job, ...(bytes && { bytes }) },
                        { kind: versions[n % 2] },
                    );
                    assert.deepEqual(await result, new Map([[job, bytes]]));
                }),
            );
            await Promise.all(jobs);
            const kinds = [...ran.values()];
            assert.deepEqual(
                versions.map((version) => kinds.filter((kind) => kind === version).length),
                [12, 12],
            );
        }),
    );

    it(
        'the other version runs the remaining jobs when a tab is killed amid them, and none is lost',
        inBothRoles(async ({ tabs: [first, second, third, fourth], pages }) => {
            /** @type {[job: number, lostWorkers: number][]} */
            const ran = [];
            const cutOff = new Promise((resolve) => {
                first.queue('q').handle(async ({ payload, lostWorkers }) => {
                    ran.push([payload, lostWorkers]);
                    if (payload !== 2) return payload;
                    resolve(undefined);
                    return new Promise(() => {});
                });
            });
            const receipts = [];
            for (const job of [0, 1, 2, 3, 4, 5])
                receipts.push(await (job % 2 === 0 ? third : fourth).queue('q').enqueue(job));
            await cutOff;
            await Promise.all(receipts.slice(0, 2).map(({ result }) => result)); // these two jobs are settled
            const before = ran.length;
            second.queue('q').handle(async ({ payload, lostWorkers }) => {
                ran.push([payload, lostWorkers]);
                return payload;
            });
            pages[0]?.kill();
            assert.deepEqual(await Promise.all(receipts.map(({ result }) => result)), [0, 1, 2, 3, 4, 5]);
            assert.deepEqual(
                ran.slice(0, before).map(([job]) => job),
                [0, 1, 2],
            );
            const again = ran.slice(before);
            assert.deepEqual(again[0], [2, 1]);
            assert.deepEqual(
                again.map(([job]) => job),
                [2, 3, 4, 5],
            );
        }),
    );

    it(
        'the other version runs a job whose tab is killed, or makes it a dead letter if it may run at most once',
        inBothRoles(async ({ tabs: [first, second, third], pages }) => {
            for (const delivery of /** @type {const} */ (['at-least-once', 'at-most-once'])) {
                const queue = (/** @type {Tab} */ tab) => tab.queue(delivery, { delivery });
                /** @type {unknown[]} */
                const ran = [];
                const begun = new Promise((resolve) => {
                    queue(first).handle(({ payload }) => {
                        resolve(payload);
                        return new Promise(() => {});
                    });
                });
                await queue(third).enqueue('cut off');
                assert.equal(await begun, 'cut off');
                queue(second).handle(({ payload, lostWorkers }) => void ran.push([payload, lostWorkers]));
                if (delivery === 'at-least-once') {
                    const [former] = await queue(second).jobs();
                    assert.equal(former?.state, 'running');
                }
                await queue(third).enqueue('after it');
                if (delivery === 'at-least-once') continue;
                pages[0]?.kill();
                await queue(second).onIdle();
                assert.deepEqual(ran, [['after it', 0]]);
                const [letter] = await queue(third).deadLetters();
                assert.equal(letter?.payload, 'cut off');
                assert.equal(/** @type {any} */ (letter)?.error?.code, 'lost-worker');
                await second.queue('at-least-once', { delivery: 'at-least-once' }).onIdle();
            }
        }),
    );

    it(
        'a subscriber of one version receives the events of a queue in the other',
        inBothRoles(async ({ tabs: [first, second], pages }) => {
            /** @type {import('tabacus').QueueState[]} */
            const states = [];
            await second.queue('q').jobs(); // this loads the modules of queues
            second.queue('q').subscribe((state) => void states.push(state));
            first.queue('q').handle(async ({ payload, progress }) => {
                progress(0.5, 'halb');
                await sleep(pages[0], 50);
                if (payload === 'fails') throw new RangeError('zu groß');
            });
            const enqueue = (/** @type {unknown} */ payload, /** @type {object} */ options) =>
                first.queue('q').enqueue(payload, options);
            await (
                await enqueue('succeeds', { key: 'k', kind: 'Art' })
            ).result;
            await assert.rejects((await enqueue('fails', { optional: true })).result, RangeError);
            await first.queue('q').pause();
            await enqueue('waits', { key: 'gone' });
            await first.queue('q').cancel('gone');
            await first.queue('q').resume();
            await sleep(pages[1], 1000);
            const types = new Set(states.map(({ type }) => String(type)));
            for (const type of [
                ...['state', 'queued', 'running', 'progress', 'done'],
                ...['failed', 'paused', 'cancelled', 'resumed'],
            ])
                assert.ok(types.has(type), `${type} is not in ${[...types]}`);
            const of = (/** @type {string} */ one) =>
                /** @type {any} */ (states.find(({ type }) => type === one));
            const { key, kind, fraction, note } = of('progress');
            assert.deepEqual([key, kind, fraction, note], ['k', 'Art', 0.5, 'halb']);
            assert.equal(of('failed').error.message, 'zu groß');
        }),
    );

    it(
        'pause(), the joining of keys and cancel() of one version have effect in the other',
        inBothRoles(async ({ tabs: [first, second, third, fourth], pages, origin }) => {
            await first.queue('q').pause();
            await origin.settled();
            /** @type {unknown[]} */
            const ran = [];
            second.queue('q').handle(({ payload }) => void ran.push(payload));
            const former = await third.queue('q').enqueue('former', { key: 'k' });
            const latter = await fourth.queue('q').enqueue('latter', { key: 'k' });
            assert.deepEqual([former.joined, latter.joined, latter.id], [false, true, former.id]);
            const gone = await third.queue('q').enqueue('gone', { key: 'cancelled' });
            const cancelled = assert.rejects(gone.result, { name: 'AbortError' });
            assert.equal(await fourth.queue('q').cancel('cancelled'), true);
            await cancelled;
            await third.queue('q').enqueue('delayed', { delay: 5000 });
            await sleep(pages[0], 60_000);
            assert.deepEqual(ran, []);
            await fourth.queue('q').resume();
            await Promise.all([former.result, latter.result, first.queue('q').onIdle()]);
            assert.deepEqual(ran, ['latter', 'delayed']);
        }),
    );
});
