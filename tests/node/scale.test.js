/**
 * How the cost of an operation grows with the number of locks and counters in the namespace: transactions, messages and
 * requests, which the emulator counts exactly.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/**
 * Counts the calls of the platform in a tab.
 *
 * @param {any} window
 */
function counted(window) {
    /** @type {Record<string, number>} */
    const counts = {};
    const methods = /** @type {const} */ ([
        [Object.getPrototypeOf(window.navigator.locks), 'request'],
        [window.IDBDatabase.prototype, 'transaction'],
        [window.BroadcastChannel.prototype, 'postMessage'],
    ]);
    for (const [prototype, name] of methods) {
        const method = prototype[name];
        /** @this {unknown} @param {...unknown} given */
        const count = function (...given) {
            counts[name] = (counts[name] ?? 0) + 1;
            return method.apply(this, given);
        };
        Object.defineProperty(prototype, name, { value: count, configurable: true, writable: true });
    }
    return {
        /** The number of calls since the last call of this function. @param {string} name */
        take(name) {
            const count = counts[name] ?? 0;
            counts[name] = 0;
            return count;
        },
    };
}

/** Opens the namespace in a new tab of an origin. @param {import('tabacus/emulator').Origin} origin */
async function openTab(origin) {
    const { window } = origin.openTab();
    const counts = counted(window);
    return { tab: await open({ window }), counts };
}

describe('growth', () => {
    it('a lock that a tab takes again takes two readings of the clock', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        let readings = 0;
        const clock = {
            timeOrigin: window.performance.timeOrigin,
            now: () => (readings++, window.performance.now()),
        };
        const get = (/** @type {any} */ of, /** @type {string} */ name) =>
            name === 'performance' ? clock : of[name];
        const tab = await open({ window: new Proxy(window, { get }) });
        const takeAgain = () => tab.lock('contended').run(() => {});
        await takeAgain();
        readings = 0;
        const times = 200;
        for (let i = 0; i < times; i++) await takeAgain();
        assert.ok(readings <= 2 * times + 10, `${readings} readings`); // 10: of the end of the first use
        origin.close();
    });

    it('a tab that asks for many locks at once reserves their tokens in few transactions', async () => {
        const origin = await createOrigin();
        const { tab, counts } = await openTab(origin);
        counts.take('transaction');
        const names = Array.from({ length: 300 }, (_, at) => `lock ${at}`);
        const held = await Promise.all(names.map((name) => tab.lock(name).acquire()));
        assert.ok(held.every(({ token }) => Number(token) > 0));
        assert.ok(counts.take('transaction') <= 5);
        assert.equal(counts.take('request'), 2 * names.length); // the entry lock and the lock of each name
        for (const one of held) one.release();
        await tab.close();
        origin.close();
    });

    it('an increment of one counter sends no messages of the others', async () => {
        const origin = await createOrigin();
        const { tab, counts } = await openTab(origin);
        const counters = Array.from({ length: 100 }, (_, at) => tab.counter(`counter ${at}`));
        for (const counter of counters) counter.add(1);
        await Promise.all(counters.map((counter) => counter.flush()));
        await origin.settled();
        counts.take('postMessage');
        counters[0]?.add(1);
        await counters[0]?.flush();
        await origin.settled();
        assert.ok(counts.take('postMessage') <= 3);
        await tab.close();
        origin.close();
    });

    it('readCounters() reads the counters of a prefix in one transaction, those that no tab has open included', async () => {
        const origin = await createOrigin();
        const first = await openTab(origin);
        for (let at = 0; at < 20; ++at) first.tab.counter(`visits/${at}`).add(at + 1);
        first.tab.counter('other').add(7);
        await first.tab.close();
        const { tab, counts } = await openTab(origin);
        const own = tab.counter('visits/3');
        own.add(100);
        const visits = await tab.readCounters({ prefix: 'visits/' });
        assert.deepEqual(
            [visits.size, visits.get('visits/3'), visits.get('visits/19'), visits.has('other')],
            [20, 104, 20, false],
        );
        counts.take('transaction');
        assert.equal((await tab.readCounters()).get('other'), 7);
        assert.equal(counts.take('transaction'), 1);
        await assert.rejects(tab.readCounters(/** @type {any} */ ({ prefix: 7 })), {
            code: 'invalid-argument',
        });
        await assert.rejects(tab.readCounters(/** @type {any} */ ({ name: 'x' })), {
            code: 'invalid-argument',
        });
        await tab.close();
        origin.close();
    });
});
