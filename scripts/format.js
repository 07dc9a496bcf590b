/**
 * npm run format: lays out JavaScript, JSON, CSS and HTML (Prettier) and C++ (clang-format), and writes docs/errors.md
 * from the code.
 */

import { writeFileSync } from 'node:fs';
import { ERRORS_FILE, errorTable } from './lib/error-table.js';
import { main } from './lib/failure.js';
import { formatCpp, formatJs } from './lib/lint.js';

await main(async () => {
    writeFileSync(ERRORS_FILE, await errorTable());
    await formatJs();
    await formatCpp();
});
