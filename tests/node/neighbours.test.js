/**
 * Other code of the origin, which posts garbage on every channel, writes junk under keys and over rows of ours, and
 * holds and steals our locks: nothing hangs, data that it did not touch stay right, and the warnings are few.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';

/** @typedef {import('tabacus').Tab} Tab */

const root = 'tabacus/n/';
const channels = ['news', 'locks', 'limits', 'queues', 'added', 'once'].concat(
    Array.from({ length: 16 }, (_, bucket) => `near/${bucket}`),
);

/** @param {number} seed @returns {(below: number) => number} numbers that depend on the seed alone */
function numbers(seed) {
    let state = seed * 7919 + 1;
    return (below) => {
        state = (state * 48_271) % 2_147_483_647;
        return state % below;
    };
}

/**
 * Disturbs the origin for a while.
 *
 * @param {any} window
 * @param {(below: number) => number} random
 * @param {number} rounds
 */
async function disturb(window, random, rounds) {
    /** @type {unknown[]} */
    const garbage = [
        '',
        '1;',
        'x'.repeat(10_000),
        7,
        null,
        { 1: 2 },
        ['1;v;once;9;s;9', 'false'],
        ['1;f;once'],
        [[]],
    ];
    const open_ = channels.map((name) => new window.BroadcastChannel(`${root}${name}`));
    for (const channel of open_) {
        // Posts each message that it received again, either unchanged or with a character replaced.
        channel.onmessage = (/** @type {{ data: unknown }} */ { data }) => {
            if (typeof data !== 'string' || data.length === 0 || garbage.length > 200) return;
            const at = random(data.length);
            garbage.push(data, `${data.slice(0, at)}${random(10)}${data.slice(at + 1)}`);
        };
    }
    for (let round = 0; round < rounds; round++) {
        for (let i = 0; i < 10; i++) open_[random(open_.length)].postMessage(garbage[random(garbage.length)]);
        window.localStorage.setItem(
            `${root}${['gone/l/', 'left/q/', 'mirror/c/zzz/', 'x'][random(4)]}${round}`,
            'junk',
        );
        const { held } = await window.navigator.locks.query();
        const ours = held.filter((/** @type {any} */ { name }) => name.startsWith(root));
        const { name } = ours[random(ours.length || 1)] ?? { name: `${root}slot/0` };
        const steal = random(2) === 0;
        void window.navigator.locks
            .request(name, steal ? { steal } : { ifAvailable: true }, () => sleep(window, random(20)))
            .catch(() => {});
        await sleep(window, 5 + random(50));
    }
    for (const channel of open_) channel.close();
}

/** @param {any} window @param {number} delay_ms */
const sleep = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

/** Whether a call failed because its lock was stolen. @param {any} error */
const stolen = ({ code }) => code === 'lock-lost' || code === 'fenced';

/**
 * Adds, commits, enqueues and draws numbers in a tab, and returns the acknowledged ones.
 *
 * @param {Tab} tab
 * @param {any} window
 */
async function work(tab, window) {
    const counter = tab.counter('c');
    const queue = tab.queue('q');
    queue.handle(({ payload }) => Number(payload) * 2);
    const done = { added: 0, committed: 0, tried: 0, jobs: 0, numbers: /** @type {number[]} */ ([]) };
    for (let i = 0; i < 12; i++) {
        counter.add(1);
        await counter.flush();
        done.added++;
        await counter.read();
        done.tried++;
        const commit = tab
            .lock('l')
            .run((held) =>
                held.commit('s', async (tx) => tx.put('s', 'n', Number((await tx.get('s', 'n')) ?? 0) + 1)),
            );
        done.committed += await commit.then(
            () => 1,
            (error) => assert.ok(stolen(error), error) ?? 0,
        );
        const { result } = await queue.enqueue(i);
        assert.equal(await result, i * 2);
        done.jobs++;
        done.numbers.push(await tab.sequence('s').next());
        await tab
            .once('once', () => i, { durability: 'memory' })
            .catch((error) => assert.ok(stolen(error), error));
        await sleep(window, 10);
    }
    return done;
}

test('garbage on all channels, junk under new keys, and stolen locks: nothing hangs or is lost, and warnings are few', async () => {
    for (let seed = 1; seed <= 3; seed++) {
        const origin = await createOrigin({ seed });
        const windows = [origin.openTab().window, origin.openTab().window];
        const tabs = await Promise.all(windows.map((window) => open({ window, namespace: 'n' })));
        /** @type {string[]} */
        const warnings = [];
        for (const tab of tabs) tab.addEventListener('warning', ({ detail }) => warnings.push(detail.code));
        const neighbour = origin.openTab().window;
        const began_ms = neighbour.performance.now();
        const [disturbed, ...works] = await Promise.race([
            Promise.all([
                disturb(neighbour, numbers(seed), 80),
                ...tabs.map((tab, index) => work(tab, windows[index])),
            ]),
            sleep(neighbour, 3_600_000).then(() => assert.fail(`seed ${seed}: something hangs`)),
        ]);
        assert.equal(disturbed, undefined);
        const sum = (/** @type {(one: Awaited<ReturnType<typeof work>>) => number} */ of) =>
            works.reduce((all, one) => all + of(one), 0);
        const fresh = await open({ window: origin.openTab().window, namespace: 'n' });
        assert.equal(
            await fresh.counter('c').read(),
            sum(({ added }) => added),
            `seed ${seed}`,
        );
        const stored = await fresh.lock('l').run((held) => held.commit('s', (tx) => tx.get('s', 'n')));
        assert.ok(
            Number(stored) >= sum(({ committed }) => committed) &&
                Number(stored) <= sum(({ tried }) => tried),
        );
        const given = works.flatMap((one) => one.numbers);
        assert.equal(new Set(given).size, given.length);
        const minutes = Math.ceil((neighbour.performance.now() - began_ms) / 60_000);
        const thefts = warnings.filter((code) => code === 'slot-lost');
        assert.ok(thefts.length > 0, 'no slot was stolen');
        assert.ok(thefts.length <= tabs.length * minutes, `${thefts.length} warnings in ${minutes} min`);
        await Promise.all([...tabs, fresh].map((tab) => tab.close()));
        origin.close();
    }
});

/** Waits for a request of IndexedDB. @param {any} request @returns {Promise<any>} */
const settled = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/**
 * Overwrites or deletes rows and keys that live tabs use, for a while.
 *
 * @param {any} window
 * @param {(below: number) => number} random
 * @param {number} rounds
 */
async function spoil(window, random, rounds) {
    const { indexedDB, localStorage } = window;
    const junk = ['junk', '', '1;', '1;x;y;z', '0;1;2', 7, null, { 1: 2 }];
    for (let round = 0; round < rounds; round++) {
        const connection = await settled(indexedDB.open('tabacus/n'));
        const stores = [...connection.objectStoreNames].filter((name) => name !== 'data');
        const store = connection
            .transaction(stores, 'readwrite')
            .objectStore(stores[random(stores.length)] ?? '');
        const keys = await settled(store.getAllKeys());
        const key = keys[random(keys.length || 1)];
        if (key !== undefined && random(3) === 0) store.delete(key);
        else if (key !== undefined) store.put(junk[random(junk.length)], key);
        connection.close();
        const owned = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at)).filter(
            (name) => name.startsWith(root),
        );
        const name = owned[random(owned.length || 1)];
        if (name && random(3) === 0) localStorage.removeItem(name);
        else if (name) localStorage.setItem(name, String(junk[random(6)]));
        await sleep(window, 5 + random(60));
    }
}

/**
 * Uses all parts of a tab while rows may be overwritten. Returns the acknowledged results and the codes of failures.
 *
 * @param {Tab} tab
 * @param {any} window
 * @param {string} me
 */
async function persist(tab, window, me) {
    const done = { added: 0, numbers: /** @type {number[]} */ ([]), ran: 0, jobs: 0, codes: new Set() };
    const succeeds = (/** @type {Promise<unknown>} */ call) =>
        call.then(
            () => true,
            ({ code, message }) => {
                assert.ok(code && code !== 'internal', message);
                done.codes.add(code);
                return false;
            },
        );
    const counter = tab.counter('c');
    const queue = tab.queue('q');
    queue.handle(() => void ++done.ran);
    for (let i = 0; i < 12; i++) {
        counter.add(1);
        done.added += Number(await succeeds(counter.flush()));
        await succeeds(counter.read());
        await succeeds(tab.lock('l').run((held) => held.commit('s', (tx) => tx.put('s', 'n', i))));
        done.jobs += Number(await succeeds(queue.enqueue(`${me}${i}`).then(({ result }) => result)));
        await succeeds(
            tab
                .sequence('s')
                .next()
                .then((number) => done.numbers.push(number)),
        );
        await succeeds(tab.budget('b', { limit: 1000 }).tryTake());
        await succeeds(tab.rateLimit('r', { limit: 100, interval: 100 }).take({ timeout: 5_000 }));
        await succeeds(tab.once(`once${i}`, () => i));
        await sleep(window, 10);
    }
    return done;
}

test('junk over the rows and keys of live tabs: nothing hangs, each loss is reported, and all works afterwards', async () => {
    for (const seed of [3, 4]) {
        const origin = await createOrigin({ seed });
        const windows = [origin.openTab().window, origin.openTab().window];
        const tabs = await Promise.all(windows.map((window) => open({ window, namespace: 'n' })));
        /** @type {Set<string>} */
        const warnings = new Set();
        for (const tab of tabs) {
            tab.addEventListener('warning', ({ detail }) => void warnings.add(detail.code));
            tab.addEventListener('storelost', ({ detail }) => void warnings.add(detail.reason));
        }
        const neighbour = origin.openTab().window;
        const inTime = (/** @type {Promise<any>[]} */ works) =>
            Promise.race([
                Promise.all(works),
                sleep(neighbour, 3_600_000).then(() => assert.fail(`seed ${seed}: something hangs`)),
            ]);
        const [, ...works] = await inTime([
            spoil(neighbour, numbers(seed), 60),
            ...tabs.map((tab, at) => persist(tab, windows[at], 'ab'.charAt(at))),
        ]);
        const given = works.flatMap((one) => one.numbers);
        assert.equal(new Set(given).size, given.length, `seed ${seed}`);
        const added = works.reduce((sum, one) => sum + one.added, 0);
        const page = origin.openTab();
        const fresh = await open({ window: page.window, namespace: 'n' });
        const total = await fresh.counter('c').read();
        assert.ok(total === added || (total < added && warnings.size > 0), `${added} counted, ${total} read`);
        const sum = (/** @type {'ran' | 'jobs'} */ of) => works.reduce((all, one) => all + one[of], 0);
        assert.ok(sum('ran') >= sum('jobs') && sum('jobs') > 0, `${sum('ran')} of ${sum('jobs')} jobs ran`);
        const [after] = await inTime([persist(fresh, page.window, 'c')]);
        assert.deepEqual([...after.codes], [], `seed ${seed}`);
        assert.equal(await fresh.counter('c').read(), total + 12);
        await Promise.all([...tabs, fresh].map((tab) => tab.close()));
        origin.close();
    }
});
