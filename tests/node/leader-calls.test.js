/** Leader.call(): calls that outlive the leader, each committed once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusError } from 'tabacus';
import { details } from './page-waits.js';
import { tabs } from './open-tabs.js';

/** @typedef {import('tabacus').Tab} Tab */

/** @param {string} code */
const failsWith = (code) => (/** @type {unknown} */ error) =>
    error instanceof TabacusError && error.code === code;

/** @param {string} name of a DOMException */
const throwsDom = (name) => (/** @type {unknown} */ error) =>
    error instanceof DOMException && error.name === name;

/**
 * Leads with a handler until the tab is closed.
 *
 * @param {Tab} tab
 * @param {(request: any, call: any) => unknown} handler
 */
function lead(tab, handler) {
    const ended = tab.leader('l').run((term) => term.answer(handler));
    return assert.rejects(ended, (/** @type {any} */ error) => ['lock-lost', 'closed'].includes(error.code));
}

/** Reads what the handlers wrote. @param {Tab} tab */
const sums = (tab) =>
    tab.lock('sums').run((held) =>
        held.commit('sums', async (tx) => ({
            sum: (await tx.get('sums', 'sum')) ?? 0,
            by: (await tx.get('sums', 'by')) ?? [],
        })),
    );

/** @param {any} call @param {number} amount */
const add = (call, amount) =>
    call.write('sums', async (/** @type {any} */ tx) => {
        tx.put('sums', 'sum', ((await tx.get('sums', 'sum')) ?? 0) + amount);
        tx.put('sums', 'by', [...((await tx.get('sums', 'by')) ?? []), call.id]);
    });

test('a call is answered by the leader, whichever tab that is, in the order of the calls', async () => {
    const {
        tabs: [a, b, c],
        close,
    } = await tabs(3);
    const early = b.leader('l').call('early'); // before there is a leader
    /** @type {unknown[]} */
    const seen = [];
    const ended = lead(a, async (request, call) => {
        seen.push(request);
        assert.equal(typeof call.id, 'string');
        if (request === 'bad') throw new RangeError('refused');
        if (request === 'uncloneable') return () => {};
        return { request, term: call.term };
    });
    const answer = await early;
    assert.equal(answer.request, 'early');
    const calls = [1, 2, 3, 4].map((n) => b.leader('l').call(n));
    assert.deepEqual(
        await Promise.all(calls),
        [1, 2, 3, 4].map((request) => ({ request, term: answer.term })),
    );
    assert.deepEqual(seen, ['early', 1, 2, 3, 4]);
    assert.equal(b.leader('l'), b.leader('l'), 'one object for a leader, so that its calls wait in line');
    assert.equal((await a.leader('l').call('own')).request, 'own');
    assert.equal((await c.leader('l').call(undefined)).request, undefined);
    await assert.rejects(
        c.leader('l').call('bad'),
        (error) => error instanceof RangeError && error.message === 'refused',
    );
    await assert.rejects(c.leader('l').call('uncloneable'), Error);
    await assert.rejects(
        c.leader('l').call(() => {}),
        failsWith('invalid-argument'),
    );
    await assert.rejects(
        c.leader('l').call(1, /** @type {any} */ ({ timout: 1 })),
        failsWith('invalid-argument'),
    );
    await close();
    await ended;
});

test('a call whose leader dies within it is run by the next leader, and one commit is kept', async () => {
    const {
        tabs: [a, b, c],
        close,
        until,
    } = await tabs(3);
    /** @type {string[]} */
    const runs = [];
    const dying = lead(a, (_, call) => {
        runs.push(`a ${call.id}`);
        add(call, 5);
        return new Promise(() => {});
    });
    const call = c.leader('l').call({ amount: 5 });
    await until(() => runs.length === 1);
    const next = lead(b, ({ amount }, called) => {
        runs.push(`b ${called.id}`);
        add(called, amount);
        return called.term;
    });
    await a.close();
    await dying;
    assert.ok((await call) > 0);
    const { sum, by } = await sums(c);
    assert.equal(sum, 5);
    assert.deepEqual(runs, [`a ${by[0]}`, `b ${by[0]}`], 'the same id for both');
    await close();
    await next;
});

test('a deposed leader commits neither its answer nor the writes that go with it', async () => {
    const {
        tabs: [a, b, c],
        close,
        until,
    } = await tabs(3);
    /** @type {(value: unknown) => void} */
    let finish = () => {};
    let begun = false;
    const deposed = a.leader('l').run((term) =>
        term.answer((_, call) => {
            begun = true;
            add(call, 100);
            return new Promise((resolve) => (finish = resolve));
        }),
    );
    const lost = assert.rejects(deposed, failsWith('lock-lost'));
    const call = c.leader('l').call('x');
    await until(() => begun);
    const stealer = await b.leader('l').lead(/** @type {any} */ ({ steal: true }));
    await lost;
    stealer?.handOver();
    const next = lead(b, (_, called) => (add(called, 1), 'b'));
    finish('a');
    assert.equal(await call, 'b');
    assert.equal((await sums(c)).sum, 1);
    await close();
    await next;
});

test('a call that is aborted is withdrawn, unless its answer was committed', async () => {
    const {
        tabs: [a, b],
        close,
        sleep,
    } = await tabs(2);
    await assert.rejects(b.leader('l').call('late', { timeout: 20 }), throwsDom('TimeoutError'));
    const controller = new AbortController();
    const aborted = b.leader('l').call('aborted', { signal: controller.signal });
    void sleep(20).then(() => controller.abort('why'));
    await assert.rejects(aborted, (error) => /** @type {unknown} */ (error) === 'why');
    /** @type {unknown[]} */
    const seen = [];
    const gaveUp = new AbortController();
    const ended = lead(a, async (request, call) => {
        seen.push(request);
        if (request === 'given up within') {
            add(call, 7);
            gaveUp.abort('enough');
            await sleep(50);
        }
        return request;
    });
    await assert.rejects(
        b.leader('l').call('given up within', { signal: gaveUp.signal }),
        (error) => /** @type {unknown} */ (error) === 'enough',
    );
    assert.equal(await b.leader('l').call('next'), 'next');
    assert.deepEqual(seen, ['given up within', 'next']);
    assert.equal((await sums(b)).sum, 0, 'a call that was withdrawn commits nothing');
    await close();
    await ended;
});

test('calls with one key are one call', async () => {
    const {
        tabs: [a, b, c],
        close,
    } = await tabs(3);
    let runs = 0;
    const both = [b, c, b].map((tab) => tab.leader('l').call('pay', { key: 'order 1' }));
    const ended = lead(a, (request, call) => {
        add(call, 1);
        return `${request} ${++runs}`;
    });
    assert.deepEqual(await Promise.all(both), ['pay 1', 'pay 1', 'pay 1']);
    assert.equal(await c.leader('l').call('pay', { key: 'order 1' }), 'pay 1');
    assert.equal(await c.leader('l').call('pay', { key: 'order 2' }), 'pay 2');
    assert.equal((await sums(c)).sum, 2);
    await close();
    await ended;
});

test('rows that are no calls, or are of another version, are left alone', async () => {
    const {
        origin,
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    assert.equal(await a.lock('any').run(() => true), true); // this makes the database
    for (const value of [null, '', '1', '1;%', '1;no such call', '0;no version']) {
        await origin.records('default', 'locks', (store) => store.put(value, 'leader%2Fl/key/k'));
        assert.equal(
            await a
                .leader('l')
                .call('nobody leads', { key: 'k', timeout: 0 })
                .catch(({ name }) => name),
            'TimeoutError',
        );
        await origin.records('default', 'locks', (store) => store.clear());
    }
    const strange = [null, 1, 'text', [], {}, '', '0;o;0', '1;x;0', '1;o;-1', '1;o;0;%', '1;o;0;key;more'];
    for (const [at, value] of strange.entries()) {
        for (const part of ['call', 'answer']) {
            await origin.records('default', 'locks', (store) =>
                store.put(value, `leader%2Fl/${part}/00000000000000${at + 10}-x`),
            );
        }
    }
    await origin.records('default', 'locks', (store) => store.put('many', 'leader%2Fl/calls'));
    await origin.records('default', 'data', (store) =>
        store.put('no call', 'tabacus%2Fleader%2Fl%2Fcalls/0000000000000001-x'),
    );
    /** @type {unknown[]} */
    const seen = [];
    const warnings = details(a, 'warning');
    const ended = lead(a, (request) => seen.push(request));
    assert.equal(await b.leader('l').call('good', { key: 'k' }), 1);
    assert.deepEqual(seen, ['good']);
    await until(() => warnings.length > 0);
    assert.deepEqual(
        warnings.map(({ code }) => code),
        ['corrupt-record'],
    );
    await close();
    await ended;
});
