/** A full disk, in the emulator: each call that writes ends at once, and no acknowledged write is lost. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';

/** @typedef {import('tabacus').Tab} Tab */

/**
 * Every call that writes.
 * @type {Record<string, (tab: Tab) => Promise<unknown>>}
 */
const writes = {
    'counter.flush': (tab) => (tab.counter('c').add(1), tab.counter('c').flush()),
    'counter.merge': (tab) => tab.counter('c').merge(foreign),
    'counter.add, transactional': (tab) => tab.counter('transactional', { strategy: 'transactional' }).add(1),
    'counter.add, optimistic': (tab) => tab.counter('optimistic', { strategy: 'optimistic' }).add(1),
    'counter.add, deltas': (tab) => tab.counter('deltas', { strategy: 'deltas' }).add(1),
    'counter.flush, batched': async (tab) => {
        const counter = tab.counter('b', { strategy: 'batched' });
        await counter.add(1);
        await counter.flush();
    },
    'lock.run': (tab) => tab.lock('new').run(() => assert.fail('without a token')),
    'lock.run, steal': (tab) => tab.lock('new').run(() => assert.fail('without a token'), { steal: true }),
    'lock.acquire, ifAvailable': (tab) => tab.lock('new').acquire({ ifAvailable: true }),
    lockAll: (tab) => tab.lockAll(['new', 'm'], () => assert.fail('without a token')),
    'semaphore.run': (tab) => tab.semaphore('s', 2).run(() => assert.fail('without a token')),
    once: (tab) => tab.once('k', () => 1),
    'leader.run': (tab) => tab.leader('e').run(() => assert.fail('without a term')),
    'leader.call': (tab) => tab.leader('e').call(1),
    enqueue: (tab) => tab.queue('q').enqueue(2),
    'queue.pause': (tab) => tab.queue('q').pause(),
    'queue.cancel': (tab) => tab.queue('q').cancel('first'),
    'queue.clear': (tab) => tab.queue('q').clear(),
    'sequence.next': (tab) => tab.sequence('n', { gapless: true }).next(),
    'sequence.reserve': (tab) => tab.sequence('n', { gapless: true }).reserve(5),
    'budget.tryTake': (tab) => tab.budget('g', { limit: 10 }).tryTake(8),
    'budget.give': (tab) => tab.budget('g', { limit: 10 }).give(2),
    'rateLimit.take': (tab) => tab.rateLimit('r', { limit: 5, interval: 1_000_000 }).take(),
    'rateLimit.tryTake': (tab) => tab.rateLimit('r', { limit: 5, interval: 1_000_000 }).tryTake(),
};

/** A state of a counter on another device. */
async function foreignState() {
    const origin = await createOrigin({ seed: 9 });
    const tab = await open({ window: origin.openTab().window });
    const state = await (tab.counter('c').add(5), tab.counter('c').state());
    await tab.close();
    origin.close();
    return state;
}

const foreign = await foreignState();

/** Writes something of each kind, and resolves when all is acknowledged. @param {Tab} tab */
async function acknowledge(tab) {
    const counter = tab.counter('c');
    counter.add(7);
    await counter.flush();
    for (const strategy of /** @type {const} */ (['transactional', 'optimistic', 'deltas']))
        await tab.counter(strategy, { strategy }).add(2);
    await tab.queue('q').enqueue(1, { key: 'first' });
    await tab.sequence('n', { gapless: true }).reserve(2);
    assert.equal(await tab.budget('g', { limit: 10 }).tryTake(2), true);
    await tab.once('kept', () => 'value', { ttl: 1e9 });
    await tab.lock('l').run((held) => held.commit('s', (tx) => tx.put('s', 'key', 1)));
}

/** Checks what acknowledge() has written, and that everything can be written again. @param {Tab} tab */
async function assertKept(tab) {
    const counter = tab.counter('c');
    assert.ok((await counter.read()) >= 7);
    for (const strategy of /** @type {const} */ (['transactional', 'optimistic', 'deltas']))
        assert.ok((await tab.counter(strategy, { strategy }).read()) >= 2, strategy);
    assert.deepEqual((await tab.queue('q').jobs()).map(({ payload }) => payload).slice(0, 1), [1]);
    assert.ok((await tab.sequence('n', { gapless: true }).next()) >= 3);
    assert.equal(await tab.budget('g', { limit: 10 }).tryTake(9), false);
    assert.equal(await tab.once('kept', () => 'lost', { ttl: 1e9 }), 'value');
    const read = () => tab.lock('l').run((held) => held.commit('s', (tx) => tx.get('s', 'key')));
    assert.equal(await read(), 1);
    await tab.queue('q').enqueue(2);
}

test('each call that writes to a full disk ends at once, and what was acknowledged before is kept', async () => {
    for (const [name, write] of Object.entries(writes)) {
        const origin = await createOrigin();
        const page = origin.openTab();
        const { performance } = page.window;
        const tab = await open({ window: page.window });
        await acknowledge(tab);
        const end = origin.breakDatabase(page, 'full-disk');
        const began = performance.now();
        await assert.rejects(write(tab), { code: 'quota-exceeded' }, name);
        assert.ok(performance.now() - began <= 100, `${name}: ${performance.now() - began} ms`);
        end();
        const other = await open({ window: origin.openTab().window });
        await assertKept(other);
        await Promise.all([tab.close(), other.close()]);
        origin.close();
    }
});

test('a fenced commit that does not fit is refused, and the lock is still held', async () => {
    const origin = await createOrigin();
    const page = origin.openTab();
    const tab = await open({ window: page.window });
    await tab.lock('l').run(async (held) => {
        await held.commit('s', (tx) => tx.put('s', 'key', 'old'));
        const end = origin.breakDatabase(page, 'full-disk');
        const refused = held.commit('s', (tx) => tx.put('s', 'key', 'new'));
        await assert.rejects(refused, { code: 'quota-exceeded' });
        assert.equal(held.held, true);
        end();
        assert.equal(await held.commit('s', (tx) => tx.get('s', 'key')), 'old');
        await held.commit('s', (tx) => tx.put('s', 'key', 'new'));
    });
    await tab.close();
    origin.close();
});

test('the result of a job that ends while the disk is full is stored once there is room', async () => {
    const origin = await createOrigin();
    const page = origin.openTab();
    const tab = await open({ window: page.window });
    const queue = tab.queue('q', { backOff: 100 });
    let runs = 0;
    queue.handle(({ payload }) => {
        if (++runs === 1) page.window.setTimeout(origin.breakDatabase(page, 'full-disk'), 5_000);
        return payload;
    });
    const { result } = await queue.enqueue('page');
    assert.equal(await result, 'page');
    assert.equal((await queue.jobs()).length, 0);
    await tab.close();
    origin.close();
});
