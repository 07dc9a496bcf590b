/** docs/errors.md: the table of errors is made of the code, and is current. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ERRORS_FILE, errorTable } from '../../scripts/lib/error-table.js';

test('docs/errors.md is what the code raises: npm run format writes it', async () => {
    assert.equal(readFileSync(ERRORS_FILE, 'utf8'), await errorTable());
});
