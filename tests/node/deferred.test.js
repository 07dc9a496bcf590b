/**
 * An object that a tab returns before its class is loaded has the methods of that class, and becomes an
 * instance of it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { kinds } from '../../js/tab/deferred.js';
import { Budget, RateLimit, Sequence } from '../../js/limits/handles.js';
import { Leader } from '../../js/lock/leader.js';
import { Lock } from '../../js/lock/lock.js';
import { Semaphore } from '../../js/lock/semaphore.js';
import { Queue } from '../../js/queue/queue.js';
import { testOrigin } from './test-origin.js';

const classes = {
    lock: Lock,
    leader: Leader,
    semaphore: Semaphore,
    queue: Queue,
    sequence: Sequence,
    budget: Budget,
    rateLimit: RateLimit,
};

/** @param {Function} type @returns {string[]} the names of its public methods and getters */
function publicNames(type) {
    const names = new Set();
    for (
        let { prototype } = type;
        prototype !== Object.prototype;
        prototype = Object.getPrototypeOf(prototype)
    )
        for (const name of Object.getOwnPropertyNames(prototype))
            if (name !== 'constructor' && !name.startsWith('_')) names.add(name);
    return [...names].sort();
}

test('a deferred object has all public methods and getters of its class, and no others', () => {
    assert.deepEqual(Object.keys(kinds).sort(), Object.keys(classes).sort());
    for (const [kind, type] of Object.entries(classes)) {
        const [, deferred] = kinds[/** @type {keyof typeof kinds} */ (kind)];
        assert.deepEqual(publicNames(deferred), publicNames(type), kind);
    }
});

/** @param {import('tabacus').Tab} tab */
const handlesOf = (tab) => ({
    lock: tab.lock('l'),
    leader: tab.leader('l'),
    semaphore: tab.semaphore('s', 2),
    queue: tab.queue('q', { limit: Infinity, attempts: Infinity }),
    sequence: tab.sequence('s'),
    budget: tab.budget('b', { limit: 5 }),
    rateLimit: tab.rateLimit('r', { limit: 1, interval: 1 }),
});

test('a deferred object stays the same object when its class is loaded, and becomes an instance of it', async () => {
    const tab = await open({ window: (await testOrigin()).window() });
    const handles = handlesOf(tab);
    const { lock, leader, semaphore, queue, sequence, budget, rateLimit } = handles;
    assert.deepEqual([queue.size, budget.available, budget.limit, semaphore.permits], [0, 5, 5, 2]);
    const early = Object.values(handles).map(({ constructor }) => constructor);
    await Promise.all([lock.query(), leader.current(), semaphore.run(() => {}), queue.enqueue(1)]);
    await Promise.all([sequence.next(), budget.tryTake(), rateLimit.tryTake()]);
    const late = Object.values(handles).map(({ constructor }) => constructor);
    assert.equal(new Set([...early, ...late]).size, 14);
    assert.deepEqual([queue.size, budget.available, budget.limit, semaphore.permits], [1, 4, 5, 2]);
    const again = handlesOf(tab);
    for (const kind of /** @type {const} */ ([
        'leader',
        'semaphore',
        'queue',
        'sequence',
        'budget',
        'rateLimit',
    ]))
        assert.equal(again[kind], handles[kind], kind);
    assert.equal(await again.lock.isLocked(), false);
    await tab.close();
});

test('calls that are made while the class is loaded keep their order and their arguments', async () => {
    const tab = await open({ window: (await testOrigin()).window() });
    /** @type {string[]} */
    const order = [];
    const options = { label: 'before' };
    const runs = ['first', 'second', 'third'].map((name) =>
        tab.lock('l').run((held) => void order.push(`${name} ${held.label}`), options),
    );
    options.label = 'after';
    const payload = { list: [1] };
    const enqueued = tab.queue('q').enqueue(payload);
    payload.list.push(2);
    const map = new Map([[1, 2]]);
    const others = tab.queue('q').enqueue(map);
    await Promise.all([...runs, enqueued, others]);
    assert.deepEqual(order, ['first before', 'second before', 'third before']);
    assert.deepEqual(
        (await tab.queue('q').jobs()).map((job) => job.payload),
        [{ list: [1] }, map],
    );
    await tab.close();
});

test('calls made while the class is loaded run before calls made in the turn in which its loading ends', async () => {
    for (let turns = 0; turns < 60; turns += 3) {
        const tab = await open({ window: (await testOrigin()).window() });
        /** @type {string[]} */
        const order = [];
        const early = tab.lock('l').run(() => void order.push('early'));
        for (let turn = 0; turn < turns; turn++) await undefined;
        const late = tab.lock('l').run(() => void order.push('late'));
        await Promise.all([early, late]);
        assert.deepEqual(order, ['early', 'late'], `${turns} turns`);
        await tab.close();
    }
});

test('a closed tab refuses every call, whether the class was loaded or not', async () => {
    for (const load of [false, true]) {
        const tab = await open({ window: (await testOrigin()).window() });
        const { lock, leader, semaphore, queue, sequence, budget, rateLimit } = handlesOf(tab);
        if (load) {
            await Promise.all([lock.query(), leader.current(), semaphore.run(() => {}), queue.enqueue(1)]);
            await Promise.all([sequence.next(), budget.tryTake(), rateLimit.tryTake()]);
        }
        await tab.close();
        const closed = { code: 'closed' };
        for (const call of [
            () => lock.run(() => {}),
            () => lock.query(),
            () => leader.call(1),
            () => leader.current(),
            () => semaphore.acquire(),
            () => queue.enqueue(1),
            () => queue.jobs(),
            () => sequence.next(),
            () => sequence.reserve(2),
            () => budget.tryTake(),
            () => budget.give(),
            () => rateLimit.take(),
        ])
            await assert.rejects(call(), closed, String(call));
        for (const call of [
            () => lock.subscribe(() => {}),
            () => leader.subscribe(() => {}),
            () => queue.subscribe(() => {}),
            () => queue.handle(() => {}),
            () => tab.queue('q'),
        ])
            assert.throws(call, closed, String(call));
    }
});

test('a numeric option of a queue fits into 32 bits or is Infinity', async (t) => {
    const tab = await open({ window: (await testOrigin()).window() });
    t.after(() => tab.close());
    for (const option of ['attempts', 'limit']) {
        assert.throws(() => tab.queue('q', { [option]: 2 ** 31 }), {
            code: 'invalid-argument',
            argument: option,
            allowed: 'an integer from 1 to 2147483647, or Infinity',
        });
    }
    tab.queue('q', { attempts: 2 ** 31 - 1, limit: Infinity });
});
