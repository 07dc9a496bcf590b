/** Commits under a lock: atomicity, the values that they keep, and transactions that the browser ends. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('an exception in the function of a commit undoes all of it, and a commit reads its own writes', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    await a.lock('l').run(async (held) => {
        await held.commit(['s', 't'], (tx) => {
            tx.put('s', 'a/1', 1);
            tx.put('s', 'a/2', 2);
            tx.put('t', 'a/1', 'other');
        });
        await assert.rejects(
            held.commit('s', (tx) => {
                tx.put('s', 'a/1', 'lost');
                throw new RangeError('mine');
            }),
            RangeError,
        );
        await held.commit('s', async (tx) => {
            tx.delete('s', 'a/2');
            tx.put('s', 'a/3', 3);
            assert.deepEqual(await tx.list('s', 'a/'), [
                ['a/1', 1],
                ['a/3', 3],
            ]);
            assert.equal(await tx.get('s', 'a/2'), undefined);
            await assert.rejects(tx.get('t', 'a/1'), failsWith('invalid-argument'));
            assert.throws(() => tx.put('s', 'k', undefined), failsWith('invalid-argument'));
        });
        assert.deepEqual(await held.commit('s', (tx) => tx.list('s')), [
            ['a/1', 1],
            ['a/3', 3],
        ]);
    });
    await close();
});

test('values of a commit and of once() are kept by structured clone', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const value = {
        at: new Date(5),
        map: new Map([['k', new Set([1n])]]),
        bytes: new Uint8Array([1, 2]),
        none: undefined,
    };
    await a.lock('l').run((held) =>
        held.commit('s', async (tx) => {
            tx.put('s', 'v', value);
            value.bytes[0] = 9; // a change after put() is not kept
            assert.deepEqual((await tx.get('s', 'v')).bytes, new Uint8Array([1, 2]));
            assert.throws(() => tx.put('s', 'v', () => {}), failsWith('invalid-argument'));
            assert.throws(() => tx.put('s', 'v', undefined), failsWith('invalid-argument'));
        }),
    );
    const kept = { ...value, bytes: new Uint8Array([1, 2]) };
    await b.lock('l').run((held) =>
        held.commit('s', async (tx) => {
            assert.deepEqual(await tx.get('s', 'v'), kept);
            assert.deepEqual(await tx.list('s'), [['v', kept]]);
            assert.equal(await tx.get('s', 'nothing'), undefined);
        }),
    );
    assert.deepEqual(await a.once('v', () => value), value);
    assert.deepEqual(await b.once('v', () => 0, { ttl: 60_000 }), value);
    assert.equal(await a.once('u', () => undefined), undefined);
    assert.equal(await b.once('u', () => 0, { ttl: 60_000 }), undefined);
    await assert.rejects(
        a.once('f', () => () => {}),
        failsWith('invalid-argument'),
    );
    await close();
});

test('a commit rejects if the browser has ended its transaction, and writes nothing', async () => {
    const {
        tabs: [a],
        close,
        sleep,
    } = await tabs(1);
    await a.lock('l').run(async (held) => {
        /** @type {any} */
        let kept;
        const late = held.commit('s', async (tx) => {
            kept = tx;
            tx.put('s', 'k', 'late');
            await sleep(20);
        });
        await assert.rejects(late, failsWith('store-failed'));
        await held.commit('s', (tx) => void (kept = tx));
        assert.throws(() => kept.put('s', 'k', 1), failsWith('closed'));
        await assert.rejects(kept.get('s', 'k'), failsWith('closed'));
        assert.equal(await held.commit('s', (tx) => tx.get('s', 'k')), undefined);
    });
    await close();
});
