/**
 * How many announcements of counters a tab receives: they depend on the tabs that watch the counter and on the
 * time, and not on the tabs that only add, nor on how often these add.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** The frame of a screen, in milliseconds: a tab announces at most once in it. */
const frame_ms = 16;

/** Longer than announcements, their confirmation, and the transactions after a flush take. */
const quiet_ms = 10_000;

/** A tab of the origin, with the messages that it received, and the times at which it did. */
async function openTab(/** @type {import('tabacus/emulator').Origin} */ origin) {
    const { window } = origin.openTab();
    /** @type {number[]} */
    const received = [];
    /** @type {string[]} */
    const texts = [];
    /** @type {Record<string, number>} */
    const begun = { transaction: 0, request: 0 };
    const Channel = window.BroadcastChannel;
    window.BroadcastChannel = class extends Channel {
        /** @param {string} name */
        constructor(name) {
            super(name);
            if (!name.endsWith('/news')) return;
            this.addEventListener('message', (/** @type {MessageEvent} */ { data }) => {
                received.push(window.performance.now());
                texts.push(data);
            });
        }
    };
    for (const [prototype, name] of /** @type {[any, string][]} */ ([
        [window.IDBDatabase.prototype, 'transaction'],
        [Object.getPrototypeOf(window.navigator.locks), 'request'],
    ])) {
        const method = prototype[name];
        /** @this {unknown} @param {...unknown} given */
        prototype[name] = function (...given) {
            begun[name] = (begun[name] ?? 0) + 1;
            return method.apply(this, given);
        };
    }
    const tab = await open({ window });
    const sleep = (/** @type {number} */ ms) => new Promise((resolve) => window.setTimeout(resolve, ms));
    return { tab, window, received, texts, begun, sleep, counter: tab.counter('n') };
}

/** Opens tabs that have added and flushed, of which the first `watching` show the value. */
async function openTabs(
    /** @type {import('tabacus/emulator').Origin} */ origin,
    /** @type {number} */ count,
    /** @type {number} */ watching,
) {
    const tabs = [];
    for (let at = 0; at < count; ++at) tabs.push(await openTab(origin));
    await Promise.all(tabs.map(({ counter }) => (counter.add(), counter.flush())));
    for (const { counter } of tabs.slice(0, watching)) counter.subscribe(() => {});
    await tabs[0]?.sleep(quiet_ms);
    for (const { received, begun } of tabs) {
        received.length = 0;
        begun.transaction = begun.request = 0;
    }
    return tabs;
}

describe('announcements of counters', () => {
    for (const count of [5, 20, 60]) {
        it(`each of ${count} tabs that add and flush receives at most two messages an add if it follows, and else none`, async () => {
            for (const watching of [0, 1, count]) {
                const origin = await createOrigin();
                const tabs = await openTabs(origin, count, watching);
                await Promise.all(tabs.map(({ counter }) => (counter.add(), counter.flush())));
                await tabs[0]?.sleep(quiet_ms);
                const adds = count;
                for (const [at, { received, counter }] of tabs.entries()) {
                    if (at >= watching) assert.equal(received.length, 0);
                    else {
                        assert.ok(
                            received.length >= count - 1 && received.length <= 2 * adds,
                            `${received.length} of ${adds}`,
                        );
                        assert.equal(counter.value, 2 * count);
                    }
                }
                const last = tabs.at(-1);
                assert.equal(await last?.counter.read(), 2 * count);
                origin.close();
            }
        });

        it(`each of ${count} tabs that flush at once begins one transaction, and requests no lock`, async () => {
            const origin = await createOrigin();
            const tabs = await openTabs(origin, count, 0);
            await Promise.all(tabs.map(({ counter }) => (counter.add(), counter.flush())));
            await tabs[0]?.sleep(quiet_ms);
            assert.deepEqual(tabs[0]?.begun, { transaction: count, request: 0 }); // the tabs share what is counted
            origin.close();
        });
    }

    for (const pause_ms of [1, 5, 40]) {
        it(`a tab that adds every ${pause_ms} ms announces that at most once in a frame`, async () => {
            const origin = await createOrigin();
            const [watcher, writer] = await openTabs(origin, 2, 1);
            assert.ok(watcher && writer);
            const begin_ms = writer.window.performance.now();
            let adds = 0;
            while (writer.window.performance.now() - begin_ms < 1000) {
                writer.counter.add();
                adds += 1;
                await writer.sleep(pause_ms);
            }
            await watcher.sleep(quiet_ms);
            assert.equal(watcher.counter.value, adds + 2);
            assert.ok(watcher.received.length <= 1100 / frame_ms);
            for (const [at, time_ms] of watcher.received.entries()) {
                assert.ok(at === 0 || time_ms - Number(watcher.received[at - 1]) >= frame_ms - 1);
            }
            origin.close();
        });
    }

    it('a tab that adds to 600 counters at once announces each of them twice, by one message in a frame', async () => {
        const origin = await createOrigin();
        const [watcher, writer] = await openTabs(origin, 2, 1);
        assert.ok(watcher && writer);
        const counters = Array.from({ length: 600 }, (_, at) => writer.tab.counter(`counter ${at}`));
        for (let round = 0; round < 2; ++round) {
            watcher.received.length = watcher.texts.length = 0;
            for (const counter of counters) counter.add();
            await Promise.all(counters.map((counter) => counter.flush()));
            await watcher.sleep(quiet_ms);
        }
        const { received, texts } = watcher; // of the second round, in which all rows were known from the start
        const lines = texts.join('\n').split('\n');
        assert.equal(lines.length, 2 * counters.length); // before the commit, and once more after it
        assert.equal(new Set(lines).size, counters.length);
        assert.ok(texts.every(({ length }) => length < 17_000));
        assert.equal(received.length, 4); // the lines are of some 50 bytes, so that each time takes two messages
        for (const [at, time_ms] of received.entries()) {
            assert.ok(at === 0 || time_ms - Number(received[at - 1]) >= frame_ms - 1);
        }
        origin.close();
    });

    it('a tab receives the values of all counters that another tab changes in one turn', async () => {
        const origin = await createOrigin();
        const [watcher, writer] = await openTabs(origin, 2, 1);
        assert.ok(watcher && writer);
        const names = Array.from({ length: 40 }, (_, at) => `line\n${at}; `);
        for (const name of names) watcher.tab.counter(name).subscribe(() => {});
        for (let round = 1; round <= 2; ++round) {
            for (const name of names) writer.tab.counter(name).add();
            await Promise.all(names.map((name) => writer.tab.counter(name).flush()));
            await watcher.sleep(quiet_ms);
        }
        watcher.received.length = watcher.begun.transaction = 0;
        for (const name of names) writer.tab.counter(name).add();
        await watcher.sleep(10);
        assert.equal(watcher.received.length, 1);
        for (const name of names) assert.equal(watcher.tab.counter(name).value, 3);
        origin.close();
    });

    it('an increment after a pause is announced at once, and the next ones of its frame together', async () => {
        const origin = await createOrigin();
        const [watcher, writer] = await openTabs(origin, 2, 1);
        assert.ok(watcher && writer);
        const begin_ms = writer.window.performance.now();
        for (let at = 0; at < 4; ++at) {
            writer.counter.add();
            await writer.sleep(1);
        }
        await watcher.sleep(quiet_ms);
        assert.ok(Number(watcher.received[0]) - begin_ms < 1);
        assert.ok(watcher.received.length <= 3); // at once, after the frame, and once more when it is committed
        origin.close();
    });

    it('the first use of a value begins to follow it: what was added before is read from the store', async () => {
        const origin = await createOrigin();
        const [reader, writer] = await openTabs(origin, 2, 0);
        assert.ok(reader && writer);
        writer.counter.add(5);
        await writer.counter.flush();
        await reader.sleep(quiet_ms);
        assert.equal(reader.received.length, 0);
        /** @type {number[]} */
        const seen = [];
        reader.counter.subscribe((value) => seen.push(value));
        await reader.sleep(quiet_ms);
        assert.equal(seen.at(-1), 7);
        writer.counter.add(5);
        await reader.sleep(quiet_ms);
        assert.equal(reader.counter.value, 12);
        origin.close();
    });

    it('a tab that watches one counter works through no announcements of the others', async () => {
        const origin = await createOrigin();
        const [watcher, writer] = await openTabs(origin, 2, 1);
        assert.ok(watcher && writer);
        watcher.tab.counter('other');
        await watcher.sleep(quiet_ms);
        watcher.begun.transaction = 0;
        writer.tab.counter('other').add(1);
        await writer.tab.counter('other').flush();
        await watcher.sleep(quiet_ms);
        assert.equal(watcher.begun.transaction, 2); // of the writer: its first read of the counter, and its commit
        assert.equal(await watcher.tab.counter('other').read(), 1);
        origin.close();
    });
});
