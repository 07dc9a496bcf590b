/** What a tab does when its connection to IndexedDB dies: it opens another one, and nothing is done twice. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { details, sleep, until } from './page-waits.js';
import { testOrigin } from './test-origin.js';

/** @typedef {import('./test-origin.js').TestOrigin} TestOrigin */

/** @param {string} [name] */
const dead = (name = 'UnknownError') => new DOMException('Connection to Indexed Database server lost', name);

/**
 * Opens a tab in a page of a new origin.
 *
 * @param {(window: any) => object} [replaced] makes properties that replace those of the window
 */
async function openPage(replaced) {
    const origin = await testOrigin();
    const window = origin.window(replaced);
    return { origin, page: origin.pageOf(window), tab: await open({ window }) };
}

/**
 * Makes a page as unable to make frames as a Worker is.
 * @param {import('tabacus/emulator').Tab} page
 */
const withoutFrames = ({ window }) => Object.assign(window.document, { createElement: undefined });

/** The frames of a page. @param {import('tabacus/emulator').Tab} page */
const framesOf = ({ window }) =>
    /** @type {HTMLIFrameElement[]} */ ([...window.document.querySelectorAll('iframe')]);

/**
 * Settles as a call does, or rejects after a time of the page's clock.
 *
 * @template T
 * @param {import('tabacus/emulator').Tab} page
 * @param {number} most_ms
 * @param {Promise<T>} call
 */
const within = ({ window }, most_ms, call) =>
    Promise.race([call, sleep(window, most_ms).then(() => assert.fail(`no answer within ${most_ms} ms`))]);

/**
 * Lets the next transactions of one kind die, either before they write anything or when they have been committed.
 *
 * @param {TestOrigin} origin
 * @param {import('tabacus/emulator').Tab} page the page that writes
 * @param {object} how
 * @param {number} how.times
 * @param {boolean} how.committed whether the writes are kept, although the page learns nothing of it
 * @param {string} [how.scope] a store that the transactions use
 * @param {() => Promise<unknown>} [how.meanwhile] what happens before the page learns that its connection is dead
 * @returns {() => number} how many of them have died. Only those that write a proof die
 */
function killWrites(origin, page, { times, committed, scope = 'jobs', meanwhile }) {
    let left = times;
    origin.onWrite = (transaction) => {
        if (!transaction.objectStoreNames.contains(scope)) return;
        const dies = watchProof(transaction);
        const commit = transaction.commit.bind(transaction);
        /** @type {(event: Event) => void} */
        let completed = () => {};
        if (!committed) {
            transaction.commit = () => {
                if (dies() && left-- > 0) origin.emulated.breakDatabase(page, 'dead-connection');
                else commit();
            };
            return;
        }
        Object.defineProperty(transaction, 'oncomplete', {
            set(handler) {
                completed = handler;
            },
        });
        transaction.addEventListener('complete', async (/** @type {Event} */ event) => {
            if (!dies() || left-- <= 0) return completed(event);
            await meanwhile?.();
            Object.defineProperty(transaction, 'error', { value: dead() });
            transaction.onabort();
        });
    };
    return () => times - Math.max(left, 0);
}

/**
 * Lets the connections of a page die without an event.
 *
 * @param {TestOrigin} origin
 * @param {import('tabacus/emulator').Tab} page
 * @returns {() => number} how many transactions were aborted
 */
function breakConnections(origin, page) {
    const aborted = () => origin.transactions.filter(({ error }) => error?.name === 'UnknownError').length;
    const before = aborted();
    origin.emulated.breakDatabase(page, 'dead-connection');
    return () => aborted() - before;
}

/** A request that fails to open a database. */
function failing() {
    const request = /** @type {any} */ (new EventTarget());
    request.error = dead();
    queueMicrotask(() => request.onerror(new Event('error')));
    return request;
}

/** Notes whether a transaction writes a proof that it was committed. @param {any} transaction @returns {() => boolean} */
function watchProof(transaction) {
    let proven = false;
    const objectStore = transaction.objectStore.bind(transaction);
    transaction.objectStore = (/** @type {string} */ name) => {
        const store = objectStore(name);
        const put = store.put.bind(store);
        store.put = (/** @type {unknown} */ value, /** @type {string} */ key) => {
            proven ||= key.endsWith('/commit');
            return put(value, key);
        };
        return store;
    };
    return () => proven;
}

test('an enqueue whose connection dies is repeated, and the job is there once, committed before or not', async () => {
    for (const committed of [false, true]) {
        const { origin, page, tab } = await openPage();
        const warnings = details(tab, 'warning');
        const queue = tab.queue('q');
        await queue.enqueue('first');
        const killed = killWrites(origin, page, { times: 1, committed });
        await queue.enqueue('second');
        assert.equal(killed(), 1);
        const jobs = await queue.jobs();
        assert.deepEqual(
            jobs.map(({ payload }) => payload),
            ['first', 'second'],
            `committed: ${committed}`,
        );
        await origin.until(() => warnings.length > 0);
        assert.deepEqual(
            warnings.map(({ code }) => code),
            ['connection-replaced'],
        );
        await tab.close();
    }
});

test('an enqueue whose proof another tab has overwritten is not repeated, and its outcome is unknown', async () => {
    const { origin, page, tab } = await openPage();
    const other = await open({ window: origin.window() });
    await tab.queue('q').enqueue('first');
    const meanwhile = () => other.queue('q').enqueue('third');
    const killed = killWrites(origin, page, { times: 1, committed: true, meanwhile });
    await assert.rejects(tab.queue('q').enqueue('second'), { code: 'unknown-commit' });
    assert.equal(killed(), 1);
    const jobs = await other.queue('q').jobs();
    assert.deepEqual(
        jobs.map(({ payload }) => payload),
        ['first', 'second', 'third'],
    );
    await Promise.all([tab.close(), other.close()]);
});

test('an enqueue that may have been committed has an unknown outcome if its repetition is aborted', async () => {
    const { origin, page, tab } = await openPage();
    const other = await open({ window: origin.window() });
    await tab.queue('q').enqueue('first');
    const meanwhile = async () => {
        await other.queue('q').enqueue('third');
        origin.onWrite = (transaction) => {
            Object.defineProperty(transaction, 'error', {
                value: new DOMException('', 'QuotaExceededError'),
            });
            queueMicrotask(() => transaction.abort());
        };
    };
    killWrites(origin, page, { times: 1, committed: true, meanwhile });
    await assert.rejects(tab.queue('q').enqueue('second'), { code: 'unknown-commit' });
    origin.onWrite = () => {};
    await Promise.all([tab.close(), other.close()]);
});

test('a fenced commit whose connection dies is repeated, its function runs once, and it is applied once', async () => {
    for (const committed of [false, true]) {
        const { origin, page, tab } = await openPage();
        await tab.lock('l').run(async (held) => {
            await held.commit('s', (tx) => tx.put('s', 'cart', { items: [1], at: new Date(0) }));
            let calls = 0;
            const killed = killWrites(origin, page, { times: 2, committed, scope: 'data' });
            await held.commit('s', async (tx) => {
                ++calls;
                const cart = await tx.get('s', 'cart');
                cart.items.push(2); // what it has read changes, although the store does not
                tx.put('s', 'cart', cart);
            });
            assert.equal(calls, 1);
            assert.equal(killed(), committed ? 1 : 2, 'the second attempt finds the proof');
            await held.commit('s', async (tx) => assert.deepEqual((await tx.get('s', 'cart')).items, [1, 2]));
        });
        await tab.close();
    }
});

test('a commit of a lock that was entered again is not taken for a commit of the outer hold', async () => {
    const { origin, page, tab } = await openPage();
    const lock = tab.lock('l');
    await lock.run(async (outer) => {
        const enter = async (/** @type {import('tabacus').Held} */ inner) => {
            await outer.commit('s', (tx) => tx.put('s', 'a', 1));
            const killed = killWrites(origin, page, { times: 1, committed: false, scope: 'data' });
            await inner.commit('s', (tx) => tx.put('s', 'b', 2));
            assert.equal(killed(), 1);
        };
        await lock.run(enter, { within: outer });
        await outer.commit('s', async (tx) =>
            assert.deepEqual([await tx.get('s', 'a'), await tx.get('s', 'b')], [1, 2]),
        );
    });
    await tab.close();
});

test('calls that wait together for another connection all end when that one is dead, too', async () => {
    let [broken, failures] = [false, 2];
    const { origin, page, tab } = await openPage(({ indexedDB }) => ({
        indexedDB: {
            open: (/** @type {[string, number?]} */ ...given) => {
                const request = /** @type {any} */ (indexedDB.open(...given));
                if (!broken) return request;
                if (failures-- > 0) return failing();
                request.addEventListener('success', () => {
                    request.result.transaction = () => {
                        throw dead('InvalidStateError');
                    };
                });
                return request;
            },
        },
    }));
    await tab.queue('q').enqueue(1);
    broken = true;
    withoutFrames(page);
    breakConnections(origin, page);
    const calls = [tab.queue('q').enqueue(2), tab.once('o', () => 1), tab.queue('q').jobs()];
    await Promise.all(calls.map((call) => assert.rejects(call, { code: 'store-failed' })));
    await tab.close().catch(() => {});
});

test('an answer of a leader whose connection dies is given once, and its handler runs once', async () => {
    for (const committed of [false, true]) {
        const { origin, page, tab } = await openPage();
        let calls = 0;
        const leader = tab.leader('l');
        const led = leader
            .run((term) =>
                term.answer((request) => {
                    ++calls;
                    return request + 1;
                }),
            )
            .catch(() => {});
        assert.equal(await leader.call(1), 2);
        const killed = killWrites(origin, page, { times: 1, committed, scope: 'data' });
        assert.equal(await leader.call(2), 3);
        assert.deepEqual([calls, killed()], [2, 1]);
        await tab.close();
        await led;
    }
});

test('reads and flushes of every kind go on after a connection has died without an event', async () => {
    const { origin, page, tab } = await openPage();
    const counter = tab.counter('c');
    const queue = tab.queue('q');
    counter.add(1);
    await counter.flush();
    await queue.enqueue(1);
    await tab.lock('l').run(() => {});
    const uses = [
        () => (counter.add(1), counter.flush()),
        () => counter.read(),
        () => queue.enqueue(2),
        () => queue.jobs(),
        () => tab.lock('l').run((held) => held.commit('s', (tx) => tx.put('s', 'k', 1))),
        () => tab.once('o', () => 1),
        () => tab.sequence('n').next(),
    ];
    for (const use of uses) {
        const aborted = breakConnections(origin, page);
        await use();
        assert.ok(aborted() > 0, `${use}`);
    }
    assert.equal(await counter.read(), 2);
    assert.equal((await queue.jobs()).length, 2);
    await tab.close();
});

test('after a page has lost IndexedDB for good and can make no frame, counters count, all else rejects, and a reload has what was flushed', async () => {
    const { origin, page, tab } = await openPage();
    withoutFrames(page);
    const warnings = details(tab, 'warning');
    const counter = tab.counter('c');
    counter.add(5);
    await counter.flush();
    await tab.queue('q').enqueue(1);
    origin.emulated.breakDatabase(page, 'dead-connection', { forGood: true });
    const refused = { code: 'store-failed', message: /reload the page/ };
    await assert.rejects(tab.queue('q').enqueue(2), refused);
    await assert.rejects(
        tab.lock('l').run((held) => held.commit('s', () => {})),
        refused,
    );
    await assert.rejects(
        tab.once('o', () => 1),
        refused,
    );
    await assert.rejects(tab.queue('q').jobs(), refused);
    assert.equal(counter.add(1), 6);
    await assert.rejects(counter.flush(), refused);
    assert.equal(counter.value, 6);
    await assert.rejects(counter.flush(), refused);
    assert.deepEqual(
        warnings.map(({ code }) => code),
        ['database-unusable'],
    );
    await tab.close().catch(() => {});
    page.kill();
    const reloaded = await open({ window: origin.window() });
    assert.equal(await reloaded.counter('c').read(), 5);
    assert.equal((await reloaded.queue('q').jobs()).length, 1);
    await reloaded.close();
});

test('after a page has lost IndexedDB for good, it goes on through a hidden frame, which it removes when it closes', async () => {
    const { origin, page, tab } = await openPage();
    const warnings = details(tab, 'warning');
    const counter = tab.counter('c');
    const store = { rows: [new Date(0), new Uint8Array([1, 2])] };
    await tab.queue('q').enqueue(store);
    origin.emulated.breakDatabase(page, 'dead-connection', { forGood: true });
    counter.add(5);
    await counter.flush();
    await tab.lock('l').run((held) => held.commit('s', (tx) => tx.put('s', 'k', 1)));
    const [job] = await tab.queue('q').jobs();
    assert.deepEqual(job?.payload, store);
    assert.deepEqual(
        warnings.map(({ code }) => code),
        ['connection-replaced'],
    );
    assert.equal(framesOf(page).length, 1);
    assert.equal(tab.capabilities.store, 'indexeddb');

    for (const frame of framesOf(page)) frame.remove();
    counter.add(1);
    await counter.flush();
    assert.equal(framesOf(page).length, 1);
    await tab.close();
    await origin.emulated.settled();
    assert.equal(framesOf(page).length, 0);
    page.kill();
    const reloaded = await open({ window: origin.window() });
    assert.equal(await reloaded.counter('c').read(), 6);
    assert.equal((await reloaded.queue('q').jobs()).length, 1);
    await reloaded.close();
});

/** Opens a tab that has flushed one increment of a counter, and breaks IndexedDB of its page for good. */
async function openDeadPage() {
    const opened = await openPage();
    const counter = opened.tab.counter('c');
    counter.add(1);
    await counter.flush();
    opened.origin.emulated.breakDatabase(opened.page, 'dead-connection', { forGood: true });
    counter.add(1);
    return { ...opened, counter };
}

test('a page goes on after its frame was removed while the database was opening in it', async () => {
    const { origin, page, tab, counter } = await openDeadPage();
    const flushed = counter.flush().catch(() => {});
    await until(page.window, () => framesOf(page).length === 1);
    const answer = origin.emulated.breakDatabase(page, 'hang-open');
    await sleep(page.window, 1_000);
    for (const frame of framesOf(page)) frame.remove();
    answer();
    await within(page, 26_000, flushed);
    await within(page, 5_000, counter.flush());
    assert.equal(await counter.read(), 2);
    await tab.close();
});

test('a page goes on after its frame was removed while a transaction was not answered in it', async () => {
    const { origin, page, tab, counter } = await openDeadPage();
    await counter.flush();
    const warnings = details(tab, 'warning');
    origin.emulated.breakDatabase(page, 'hang-transaction');
    const enqueued = tab.queue('q').enqueue(1);
    await sleep(page.window, 100);
    for (const frame of framesOf(page)) frame.remove();
    await within(page, 5_000, enqueued);
    assert.equal((await tab.queue('q').jobs()).length, 1);
    assert.deepEqual([...new Set(warnings.map(({ code }) => code))], ['connection-replaced']);
    await tab.close();
});
