/** once() over tabs of one process: its one run, its value, and its error. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusError } from 'tabacus';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('once() runs in one tab, all get its value or its error, a ttl keeps the value, and a dead runner is replaced', async () => {
    const {
        tabs: [a, b, c],
        close,
        until,
        sleep,
    } = await tabs(3);
    let runs = 0;
    const make = async () => {
        await sleep(1);
        return { run: ++runs };
    };
    // All six calls are made before the first run has finished.
    const held = await c.lock('once/k').acquire();
    const calls = [a, b, c, a, b, c].map((tab) => tab.once('k', make));
    while ((await c.lock('once/k').query()).length < 7);
    held?.release();
    assert.deepEqual(await Promise.all(calls), Array(6).fill({ run: 1 }));
    assert.deepEqual(await b.once('k', make), { run: 2 });
    assert.deepEqual(await a.once('k', make, { ttl: 60_000 }), { run: 2 });
    await assert.rejects(
        a.once('k', () => Promise.reject(new RangeError('mine'))),
        RangeError,
    );
    assert.deepEqual(await a.once('k', make, { ttl: 60_000 }), { run: 3 });

    let began = false;
    const never = () => {
        began = true;
        return new Promise(() => {});
    };
    const stuck = assert.rejects(a.once('dead', never), failsWith('lock-lost'));
    await until(() => began);
    const next = b.once('dead', () => 'other');
    await a.close();
    await stuck;
    assert.equal(await next, 'other');
    await close();
});

test('an error of once() arrives in all tabs with its name and code, and without IndexedDB once() is unavailable', async () => {
    const {
        tabs: [a, b],
        close,
        sleep,
    } = await tabs(2);
    await Promise.all([a.once('warm', () => 1), b.once('warm', () => 1)]); // this loads the modules
    for (const thrown of [
        new DOMException('gone', 'AbortError'),
        Object.assign(new RangeError('far'), { code: 'FAR' }),
        Object.assign(new Error('not found'), { code: 404 }),
        new TabacusError('closed', 'shut'),
    ]) {
        let calls = 0;
        const make = async () => {
            calls++;
            for (let turns = 0; turns < 5; turns++) await sleep(1); // the other tab calls meanwhile
            throw thrown;
        };
        for (const { reason } of /** @type {PromiseRejectedResult[]} */ (
            await Promise.allSettled([a.once('k', make), b.once('k', make)])
        )) {
            assert.ok(reason instanceof Error);
            assert.deepEqual([reason.name, reason.message], [thrown.name, thrown.message]);
            assert.equal(/** @type {any} */ (reason).code, thrown.code);
            assert.ok(reason instanceof thrown.constructor, `${reason}`);
            assert.equal(reason instanceof TabacusError, thrown instanceof TabacusError);
        }
        assert.equal(calls, 1);
    }
    await close();
    const without = await tabs(1, { indexedDB: undefined }, { allowWeaker: true });
    await assert.rejects(
        without.tabs[0].once('k', () => 1),
        failsWith('unavailable'),
    );
    await assert.rejects(without.tabs[0].leader('l').call(1), failsWith('unavailable'));
    await without.close();
});
