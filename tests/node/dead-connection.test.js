/** What a tab does when its connection to IndexedDB dies: it opens another one, and nothing is done twice. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { details, FakeOrigin, until } from './fake-origin.js';
import { LockOrigin } from './fake-locks.js';

/** @param {FakeOrigin} origin @param {object} [also] @param {object} [options] */
function openIn(origin, also = {}, options = {}) {
    const window = origin.window({ navigator: { locks: new LockOrigin().manager('client') }, ...also });
    return open({ window, ...options });
}

/** @param {string} [name] */
const dead = (name = 'UnknownError') => new DOMException('Connection to Indexed Database server lost', name);

/**
 * Lets the next transactions of one kind die, either before they write anything or when they have been committed.
 *
 * @param {FakeOrigin} origin
 * @param {object} how
 * @param {number} how.times
 * @param {boolean} how.committed whether the writes are kept, although the page learns nothing of it
 * @param {string} [how.scope] a store that the transactions use
 */
function killWrites(origin, { times, committed, scope = 'jobs' }) {
    let left = times;
    origin.onWrite = (transaction) => {
        if (!transaction.objectStoreNames.contains(scope) || left-- <= 0) return;
        /** @param {() => void} abort */
        const die = (abort) => {
            Object.defineProperty(transaction, 'error', { value: dead() });
            abort();
        };
        if (!committed) {
            transaction.commit = () => transaction._abort('UnknownError');
            return;
        }
        Object.defineProperty(transaction, 'oncomplete', {
            set() {
                transaction.addEventListener('complete', () => die(() => transaction.onabort()));
            },
        });
    };
    return () => times - Math.max(left, 0);
}

test('an enqueue whose connection dies is repeated, and the job is there once, committed before or not', async () => {
    for (const committed of [false, true]) {
        const origin = new FakeOrigin();
        const tab = await openIn(origin);
        const warnings = details(tab, 'warning');
        const queue = tab.queue('q');
        await queue.enqueue('first');
        const killed = killWrites(origin, { times: 1, committed });
        await queue.enqueue('second');
        assert.equal(killed(), 1);
        const jobs = await queue.jobs();
        assert.deepEqual(
            jobs.map(({ payload }) => payload),
            ['first', 'second'],
            `committed: ${committed}`,
        );
        await until(() => warnings.length > 0);
        assert.deepEqual(
            warnings.map(({ code }) => code),
            ['connection-replaced'],
        );
        await tab.close();
    }
});

test('a fenced commit whose connection dies is repeated, its function runs once, and it is applied once', async () => {
    for (const committed of [false, true]) {
        const origin = new FakeOrigin();
        const tab = await openIn(origin);
        await tab.lock('l').run(async (held) => {
            await held.commit('s', (tx) => tx.put('s', 'n', 1));
            let calls = 0;
            const killed = killWrites(origin, { times: 2, committed, scope: 'data' });
            await held.commit('s', async (tx) => {
                ++calls;
                tx.put('s', 'n', (await tx.get('s', 'n')) + 1);
            });
            assert.equal(calls, 1);
            assert.equal(killed(), 2);
            await held.commit('s', async (tx) => assert.equal(await tx.get('s', 'n'), 2));
        });
        await tab.close();
    }
});

test('an answer of a leader whose connection dies is given once, and its handler runs once', async () => {
    for (const committed of [false, true]) {
        const origin = new FakeOrigin();
        const tab = await openIn(origin);
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
        killWrites(origin, { times: 1, committed, scope: 'data' });
        assert.equal(await leader.call(2), 3);
        assert.equal(calls, 2);
        await tab.close();
        await led;
    }
});

test('reads and flushes of every kind go on after a connection has died without an event', async () => {
    const origin = new FakeOrigin();
    const tab = await openIn(origin);
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
        // Every transaction of the present connections aborts when it is begun; those of a later one do not.
        for (const connection of origin.connections.splice(0)) {
            const begin = connection.transaction;
            connection.transaction = (...given) => {
                const transaction = begin.apply(connection, given);
                setImmediate(() => /** @type {any} */ (transaction)._abort('UnknownError'));
                return transaction;
            };
        }
        await use();
    }
    assert.equal(await counter.read(), 2);
    assert.equal((await queue.jobs()).length, 2);
    await tab.close();
});

test('after a page has lost IndexedDB for good, counters count, all else rejects, and a reload has what was flushed', async () => {
    const origin = new FakeOrigin();
    const { indexedDB } = origin;
    let broken = false;
    const window = {
        indexedDB: {
            open: (/** @type {[string, number?]} */ ...given) => {
                if (!broken) return indexedDB.open(...given);
                const request = /** @type {any} */ (new EventTarget());
                request.error = dead();
                setImmediate(() => request.onerror(new Event('error')));
                return request;
            },
        },
    };
    const tab = await openIn(origin, window);
    const warnings = details(tab, 'warning');
    const counter = tab.counter('c');
    counter.add(5);
    await counter.flush();
    await tab.queue('q').enqueue(1);
    broken = true;
    for (const connection of origin.connections) {
        connection.transaction = () => {
            throw dead('InvalidStateError');
        };
    }
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
    assert.equal(warnings.filter(({ code }) => code === 'database-unusable').length, 1);
    await tab.close().catch(() => {});
    const reloaded = await openIn(origin);
    assert.equal(await reloaded.counter('c').read(), 5);
    assert.equal((await reloaded.queue('q').jobs()).length, 1);
    await reloaded.close();
});
