/** state() and merge() of counters of two devices. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusRangeError } from 'tabacus';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('the states of two devices merge to equal values, in any order, any number of times, and over restarts', async () => {
    const [one, two] = await Promise.all([1, 2].map((seed) => tabs(2, {}, {}, { seed })));
    assert.ok(one && two);
    const [a, a2] = one.tabs.map((tab) => tab.counter('n'));
    const [b, b2] = two.tabs.map((tab) => tab.counter('n'));
    assert.ok(a && a2 && b && b2);
    a.add(5);
    a2.add(-2);
    await a2.flush();
    b.add(100);
    const carried = JSON.parse(JSON.stringify(await a.state()));
    assert.deepEqual(carried.version, 1);
    const old = await b.state();
    b2.add(7);
    await b2.flush();
    await b.merge(carried);
    await b.merge(carried);
    assert.equal(await b.read(), 110);
    await two.until(() => b2.value === 110);
    await a.merge(await b.state());
    await a.merge(old);
    assert.equal(await a.read(), 110);
    await one.until(() => a2.value === 110);
    a.add(1);
    await b.merge(await a.state());
    assert.equal(await b2.read(), 111);
    await two.close();
    const late = await two.another();
    assert.equal(await late.counter('n').read(), 111);
    await late.close();
    await one.close();
});

test('merge() refuses a wrong state as a whole, and accepts counts as strings and as numbers', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const counter = a.counter('n');
    const good = { node: 'x1/0', epoch: '1', plus: 3, minus: '1' };
    for (const state of [
        null,
        {},
        { version: 2, rows: [] },
        { version: 1, rows: 'many' },
        { version: 1, rows: [good, , good] }, // eslint-disable-line no-sparse-arrays -- a missing row is no row
        { version: 1, rows: new Array(3) },
        { version: 1, rows: [good, { ...good, plus: -1 }] },
        { version: 1, rows: [good, { ...good, plus: '007' }] },
        { version: 1, rows: [good, { ...good, node: 'x1' }] },
        { version: 1, rows: [good, { ...good, plus: '99999999999999999999' }] },
    ]) {
        await assert.rejects(
            counter.merge(/** @type {any} */ (state)),
            (/** @type {any} */ error) =>
                failsWith('invalid-argument')(error) &&
                (state === null ? error.argument === 'state' : error.argument.startsWith('state.')) &&
                'value' in error,
        );
    }
    assert.equal(await counter.read(), 0);
    await counter.merge({ version: 1, rows: [good] });
    assert.equal(counter.value, 2);
    const most = Number.MAX_SAFE_INTEGER;
    const large = { node: 'x2/0', epoch: 1, plus: most, minus: 0 };
    await assert.rejects(
        counter.merge({ version: 1, rows: [{ ...good, plus: 4 }, large] }),
        TabacusRangeError,
    );
    assert.equal(await counter.read(), 2);
    await counter.merge({ version: 1, rows: [{ ...large, minus: 2 }] });
    assert.equal(await counter.read(), most);
    const stored = a.counter('n', { strategy: 'transactional' });
    await assert.rejects(stored.state(), failsWith('unavailable'));
    await assert.rejects(stored.merge({ version: 1, rows: [good] }), failsWith('unavailable'));
    await close();
});
