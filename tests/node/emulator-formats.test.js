/** Tabs of a later version of tabacus in the emulator: the formats of what they store and send. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin, explore, replay } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Tab} Page */

const invalid = { code: 'invalid-argument' };

/** The rows of a store, by key. @param {any} window @param {string} store @returns {Promise<Record<string, any>>} */
const rowsOf = (window, store) =>
    new Promise((resolve, reject) => {
        const opening = window.indexedDB.open('tabacus/default');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
            const objects = opening.result.transaction(store).objectStore(store);
            const [keys, values] = [objects.getAllKeys(), objects.getAll()];
            values.onsuccess = () => {
                opening.result.close();
                resolve(
                    Object.fromEntries(
                        keys.result.map((/** @type {string} */ key, /** @type {number} */ at) => [
                            key,
                            values.result[at],
                        ]),
                    ),
                );
            };
        };
    });

/** Counts once in a tab, and returns the counter. @param {Page} page */
async function count({ window }) {
    const counter = (await open({ window })).counter('n');
    counter.add(1);
    await counter.flush();
    return counter;
}

test('a tab with a record format does not change a queue to it while a tab of an earlier format has a job', async () => {
    const origin = await createOrigin({ seed: 1 });
    const [plain, later] = [origin.openTab(), origin.openTab({ recordFormat: 3 })];
    const versions = async () => {
        const rows = Object.entries(await rowsOf(plain.window, 'jobs'));
        return rows
            .filter(([key]) => key !== 'q/commit')
            .map(([key, row]) => key.slice(2, 3) + row.split(';')[0]);
    };
    const queue = (await open({ window: plain.window })).queue('q');
    const laterQueue = (await open({ window: later.window })).queue('q');
    const stop = queue.handle(() => new Promise((resolve) => plain.window.setTimeout(resolve, 500)));
    const { result } = await queue.enqueue('a');
    await new Promise((resolve) => later.window.setTimeout(resolve, 100));
    await laterQueue.enqueue('b');
    assert.deepEqual(await versions(), ['h3.1', 'r1', 'r3.1', 's1']);
    stop();
    await result;
    await laterQueue.enqueue('c');
    assert.deepEqual(await versions(), ['h3', 'r3.1', 'r3', 's1']);
    await assert.rejects(queue.enqueue('d'), { code: 'version-mismatch' });
    origin.close();
});

test('a tab with a record format stores and sends the records of tabacus in it, and nothing else', async () => {
    const origin = await createOrigin({ seed: 1 });
    const [plain, later] = [origin.openTab(), origin.openTab({ recordFormat: 3 })];
    /** @type {unknown[]} */
    const received = [];
    for (const name of ['tabacus/default/news', 'mine']) {
        const channel = new plain.window.BroadcastChannel(name);
        channel.onmessage = (/** @type {{ data: unknown }} */ { data }) => received.push(data);
    }
    (await count(later)).subscribe(() => {});
    later.window.localStorage.setItem('mine', '1;mine');
    new later.window.BroadcastChannel('mine').postMessage('1;mine');
    await new Promise((resolve) => later.window.setTimeout(resolve, 500));
    const rows = Object.entries(await rowsOf(plain.window, 'rows'));
    assert.match(String(rows), /^n\/\w+\/0,3;\d+;1;0$/);
    assert.match(String(Object.keys(await rowsOf(plain.window, 'claims'))), /^3;\w+;0;\d+$/);
    const { localStorage } = plain.window;
    assert.match(String(localStorage.getItem(`tabacus/default/mirror/${rows[0]?.[0]}`)), /^3;/);
    assert.equal(localStorage.getItem('mine'), '1;mine');
    assert.ok(
        received.some((data) => String(data).startsWith('3;n;n;')),
        `${received}`,
    );
    assert.equal(received.filter((data) => data === '1;mine').length, 1);
    assert.equal(received.filter((data) => String(data).startsWith('1;n')).length, 0);
    origin.close();
});

test('a tab reads its own and earlier record formats, adopts their slots, and leaves later ones alone', async () => {
    const origin = await createOrigin({ seed: 1 });
    for (const recordFormat of [1, 2, 3]) {
        const page = origin.openTab({ recordFormat });
        assert.equal(await (await count(page)).read(), recordFormat);
        page.kill();
        await origin.settled();
        const { window } = origin.openTab();
        assert.equal(Object.keys(await rowsOf(window, 'rows')).length, 1);
        assert.equal(Object.keys(await rowsOf(window, 'claims')).length, 1);
    }
    const counter = await count(origin.openTab({ recordFormat: 2 }));
    await assert.rejects(counter.read(), { code: 'version-mismatch' });
    const last = (await open({ window: origin.openTab({ recordFormat: 9999 }).window })).counter('n');
    assert.equal(await last.read(), 4);
    origin.close();
});

test('frames and workers of a tab have its record format, and storage events are read in it', async () => {
    const origin = await createOrigin({ seed: 1, storage: 'mutexed' });
    const later = origin.openTab({ recordFormat: 2 });
    const [frame, worker] = [later.openFrame(), later.openWorker()];
    const other = origin.openTab({ recordFormat: 2 });
    /** @type {unknown[]} */
    const events = [];
    for (const { window } of [other, origin.openTab()])
        window.addEventListener('storage', (/** @type {StorageEvent} */ { key, newValue }) =>
            events.push([key, newValue]),
        );
    frame.window.localStorage.setItem('tabacus/x', '1;y');
    frame.window.localStorage.setItem('x', '1;y');
    await origin.settled();
    assert.deepEqual(events.sort(), [
        ['tabacus/x', '1;y'],
        ['tabacus/x', '2;y'],
        ['x', '1;y'],
        ['x', '1;y'],
    ]);
    const counter = (await open({ window: worker.scope })).counter('w');
    counter.add(1);
    await counter.flush();
    assert.match(String(Object.values(await rowsOf(origin.openTab().window, 'rows'))), /^2;/);
    origin.close();
});

test('a record format that is no integer from 1 to 9999 is refused', async () => {
    const origin = await createOrigin();
    for (const recordFormat of [0, 10_000, 1.5, '2', null])
        assert.throws(() => origin.openTab(/** @type {any} */ ({ recordFormat })), invalid);
    for (const recordFormats of [[], [0], [1, '2'], 2, null]) {
        const options = /** @type {any} */ ({ recordFormats, seeds: 1 });
        await assert.rejects(
            explore(() => {}, options),
            invalid,
        );
    }
});

test('explore() chooses the record format of each tab by the seed, and a replay has the same', async () => {
    /** @type {Set<string>} */
    const chosen = new Set();
    const recordFormats = [1, 2];
    const scenario = (/** @type {Page} */ tab, /** @type {{ index: number }} */ { index }) =>
        tab.window.localStorage.setItem(`tabacus/${index}`, '1;');
    const invariant = (/** @type {{ origin: import('tabacus/emulator').Origin }} */ { origin }) => {
        const { localStorage } = origin.openTab().window;
        const found = [0, 1].map((index) => localStorage.getItem(`tabacus/${index}`)).join(' ');
        chosen.add(found);
        return found === '1; 2;' ? 'an earlier one before a later one' : true;
    };
    const report = await explore(scenario, { recordFormats, seeds: 40, exhaust: 1000, invariant });
    assert.equal(report.verdict, 'broken');
    assert.ok(report.seeds > 0);
    const again = await replay(scenario, report, { recordFormats, invariant });
    assert.equal(again.failure, report.failure);
    const all = await explore(scenario, {
        recordFormats,
        seeds: 40,
        invariant: (given) => void invariant(given),
    });
    assert.equal(all.verdict, 'unbroken within the bound');
    assert.deepEqual([...chosen].sort(), ['1; 1;', '1; 2;', '2; 1;', '2; 2;']);
});
