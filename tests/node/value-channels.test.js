/** Channels whose messages carry a value. Values that other programs send are not kept. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageUnitsMax } from '../../js/host/broadcast-channels.js';
import { ValueChannels } from '../../js/host/value-channels.js';

test('a value is kept only if its message is short enough to reach the core', () => {
    /** @type {unknown[]} */
    const kept = [];
    /** @type {(data: unknown) => unknown} */
    let read = () => undefined;
    const host = /** @type {any} */ ({
        channels: {
            open: (
                /** @type {number} */ _id,
                /** @type {string} */ _name,
                /** @type {typeof read} */ given,
            ) => {
                read = given;
                return true;
            },
        },
        values: { keep: (/** @type {unknown} */ value) => kept.push(value) },
    });
    assert.equal(new ValueChannels(host).open(1, 'c'), true);
    assert.equal(read(['text', 'value']), 'text\n1');
    for (let units = messageUnitsMax - 100; units <= messageUnitsMax + 1; units++) {
        const before = kept.length;
        const text = read(['x'.repeat(units), 'value']);
        assert.equal(kept.length - before, Number(text !== undefined), `${units}`);
        if (typeof text === 'string') assert.ok(text.length <= messageUnitsMax);
    }
    for (const foreign of ['text', null, [1, 'value'], ['a\nb', 'value']])
        assert.equal(read(foreign), undefined);
});
