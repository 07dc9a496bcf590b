/** docs/errors.md is generated from the code and is current, and `instanceof` works over copies of the package. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DeadlockError, TabacusError, TabacusRangeError } from 'tabacus';
import * as worker from 'tabacus/worker';
import { ERRORS_FILE, errorTable } from '../../scripts/lib/error-table.js';

test('docs/errors.md is what `npm run format` generates from the errors of the code', async () => {
    assert.equal(readFileSync(ERRORS_FILE, 'utf8'), await errorTable());
});

test('an error is an instance of the class of its kind in every copy of the package', async () => {
    /** @type {typeof import('../../js/common/errors.js')} */
    const other = await import(`${new URL('../../js/common/errors.js', import.meta.url)}?copy`);
    const raised = {
        TabacusError: new other.TabacusError('closed', 'm'),
        TabacusRangeError: new other.TabacusRangeError('m'),
        DeadlockError: new other.DeadlockError('m'),
    };
    const kinds = Object.entries(raised).map(([name, error]) => [
        name,
        [TabacusError, TabacusRangeError, DeadlockError].map((type) => error instanceof type),
    ]);
    assert.deepEqual(Object.fromEntries(kinds), {
        TabacusError: [true, false, false],
        TabacusRangeError: [true, true, false],
        DeadlockError: [true, false, true],
    });
    for (const stranger of [new Error('m'), new RangeError('m'), null, undefined, 'text', {}])
        assert.ok(!(stranger instanceof TabacusError) && !(stranger instanceof DeadlockError));
});

test('a caller’s class that extends an error has only its own instances', () => {
    class Mine extends DeadlockError {}
    assert.ok(new Mine('m') instanceof Mine && new Mine('m') instanceof DeadlockError);
    assert.ok(!(new DeadlockError('m') instanceof Mine));
});

test('the page recognises errors that the file of a Worker raises', async () => {
    assert.notEqual(worker.TabacusError, TabacusError, 'the file of a Worker has classes of its own');
    const error = await worker
        .attach(/** @type {any} */ ({}))
        .catch((/** @type {unknown} */ raised) => raised);
    assert.ok(error instanceof TabacusError && error instanceof worker.TabacusError);
});
