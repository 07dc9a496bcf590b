/** once() with values that are kept only in memory, and forget(), on the emulator. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { open, TabacusError } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';
import { failsWith } from './expected-errors.js';

/** @typedef {import('tabacus').Tab} Tab */

const secret = 'SECRET';
const memory = /** @type {const} */ ({ durability: 'memory' });
const young = /** @type {const} */ ({ durability: 'memory', ttl: 3_600_000 });

/**
 * Opens tabs whose writes are watched: each key and value that a tab writes to IndexedDB or localStorage, in any
 * transaction, even one that aborts, must not contain the secret.
 *
 * @param {number} count
 * @param {number} seed
 */
async function watched(count, seed) {
    const origin = await createOrigin({ seed });
    let writes = 0;
    /** @type {string[]} */
    const leaks = []; // an error that is thrown in the tab's own call would be caught there
    const tabs = Array.from({ length: count }, () => origin.openTab());
    for (const { window } of tabs) {
        for (const [type, method] of [
            [window.IDBObjectStore, 'put'],
            [window.IDBObjectStore, 'add'],
            [window.Storage, 'setItem'],
        ]) {
            const own = type.prototype[method];
            /** @this {any} @param {...any} written */
            type.prototype[method] = function write(...written) {
                writes++;
                if (inspect(written, { depth: 9 }).includes(secret)) leaks.push(method);
                return own.apply(this, written);
            };
        }
    }
    const ours = await Promise.all(tabs.map(({ window }) => open({ window })));
    return {
        origin,
        tabs,
        ours: /** @type {[Tab, Tab, Tab]} */ (/** @type {unknown} */ (ours)),
        /** @param {Tab[]} [alive] the tabs that were not killed */
        close: async (alive = ours) => {
            await Promise.all(alive.map((tab) => tab.close()));
            origin.close();
            assert.deepEqual(leaks, []);
            assert.ok(writes > 0);
        },
    };
}

/** @param {any} window @param {number} delay_ms */
const sleep = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

test('a value in memory reaches the tabs that wait and later callers, as a clone, and no write ever has it', async () => {
    for (let seed = 1; seed <= 6; seed++) {
        const {
            ours,
            tabs: [first],
            close,
        } = await watched(3, seed);
        let runs = 0;
        const make = async () => {
            await sleep(first?.window, 2_000);
            return { text: secret, run: ++runs, at: new Date(5), file: new Blob([secret]) };
        };
        const values = await Promise.all([...ours, ...ours].map((tab) => tab.once('k', make, memory)));
        assert.equal(runs, 1);
        for (const value of values) {
            assert.deepEqual([value.text, value.run, value.at.getTime()], [secret, 1, 5]);
            assert.equal(await value.file.text(), secret);
        }
        assert.equal(new Set(values).size, values.length, 'each caller has a value of its own');
        assert.equal((await ours[1].once('k', make, memory)).run, 2);
        for (const tab of ours) assert.equal((await tab.once('k', make, young)).run, 2);
        const failing = Promise.allSettled(
            ours.map((tab) =>
                tab.once(
                    'e',
                    async () => {
                        await sleep(first?.window, 2_000);
                        throw new RangeError(secret);
                    },
                    memory,
                ),
            ),
        );
        for (const one of await failing) {
            assert.equal(one.status, 'rejected');
            assert.ok(one.reason instanceof RangeError && one.reason.message === secret);
        }
        await close();
    }
});

test('a value in memory is gone with the tabs that have it, and replaces one that was stored', async () => {
    const { ours, tabs, close } = await watched(3, 1);
    let runs = 0;
    const make = () => ++runs;
    assert.equal(await ours[0].once('k', make, { ttl: 3_600_000 }), 1);
    assert.equal(await ours[1].once('k', make, { ...memory, ttl: 0 }), 2);
    assert.equal(await ours[0].once('k', make, young), 2, 'the stored value of the first run is gone');
    tabs[0]?.kill();
    tabs[1]?.kill();
    assert.equal(await ours[2].once('k', make, young), 3);
    await close([ours[2]]);
});

test('forget() removes a value in every tab, and a run in progress and its callers get an AbortError', async () => {
    for (const [seed, options] of [young, { ttl: 3_600_000 }, young, { ttl: 3_600_000 }].entries()) {
        const { ours, close } = await watched(3, seed + 1);
        let runs = 0;
        const make = () => ++runs;
        for (const tab of ours) assert.equal(await tab.once('k', make, options), 1);
        await ours[2].forget('k');
        assert.equal(await ours[0].once('k', make, options), 2);

        /** @type {{ signal?: AbortSignal }} */
        const running = {};
        /** @param {{ signal: AbortSignal }} run */
        const endless = ({ signal }) => {
            running.signal = signal;
            return new Promise((resolve) => signal.addEventListener('abort', () => resolve(secret)));
        };
        const calls = ours.map((tab) => tab.once('run', endless, { ...options, ttl: 0 }));
        const ends = Promise.allSettled(calls);
        while ((await ours[0].lock('once/run').query()).length < 3 || !running.signal);
        await ours[1].forget('run');
        for (const end of await ends) {
            assert.equal(end.status, 'rejected');
            assert.equal(end.reason.name, 'AbortError');
            assert.ok(end.reason instanceof DOMException);
        }
        assert.ok(running.signal.aborted);
        assert.equal(await ours[0].once('run', () => 'next', options), 'next');
        await close();
    }
});

test('a call of another tab that begins after forget() has resolved runs, also while messages are under way', async () => {
    // With these seeds the tab does not know yet that its lock was stolen.
    const disk = { ttl: 3_600_000 };
    for (const options of [disk, young])
        for (const seed of options === disk ? [2, 56] : [50, 52, 56]) {
            const { ours, close } = await watched(3, seed);
            let runs = 0;
            const make = () => ++runs;
            for (const tab of ours) assert.equal(await tab.once('k', make, options), 1);
            await ours[2].forget('k');
            assert.equal(await ours[0].once('k', make, options), 2, `seed ${seed}`);
            await close();
        }
});

test('forget() and the durability of once() check their arguments, and need a store', async () => {
    const { ours, origin, close } = await watched(1, 1);
    const [tab] = ours;
    await assert.rejects(tab.forget(''), failsWith('invalid-argument'));
    await assert.rejects(
        tab.once('k', () => 1, { durability: /** @type {any} */ ('relaxed') }),
        (error) => error instanceof TabacusError && error.argument === 'durability',
    );
    await tab.forget('never used');
    const { window } = origin.openTab();
    const silent = await open({
        window: Object.create(window, { BroadcastChannel: { value: undefined } }),
    });
    await assert.rejects(
        silent.once('k', () => 1, memory),
        failsWith('unavailable'),
    );
    assert.equal(await silent.once('k', () => 1), 1);
    await silent.close();
    const { window: bare } = origin.openTab();
    const without = await open({
        window: Object.create(bare, { indexedDB: { value: undefined } }),
        allowWeaker: true,
    });
    await assert.rejects(without.forget('k'), failsWith('unavailable'));
    await without.close();
    await close();
});
