/**
 * npm run matrix -- [--deep] [--json | --markdown]
 *
 * Explores every combination of strategy, storage model and fault. Each is either proved up to a bound or broken; the
 * seed of a broken one replays the run that breaks it (docs/laboratory.md). --deep explores about a hundred times as
 * much, and takes hours. The exit code is 1 if a strategy breaks its declared guarantee.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, main } from './lib/failure.js';
import { cellsOf, computeMatrix, contradictions } from './lib/matrix.js';
import { markdown, summary } from './lib/matrix-table.js';
import { optionsOf } from './lib/options.js';
import { repository } from './lib/paths.js';

await main(async () => {
    const options = optionsOf({
        deep: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        markdown: { type: 'boolean', default: false },
    });
    const cells = await computeMatrix(options.deep ? 'deep' : 'usual');
    if (options.markdown) {
        const earlier = join(repository, 'docs/matrix-deep.jsonl');
        const deeper = existsSync(earlier) ? cellsOf(readFileSync(earlier, 'utf8')) : [];
        writeFileSync(join(repository, 'docs/matrix.md'), markdown(cells, options.deep, deeper));
    }
    console.log(options.json ? JSON.stringify(cells, null, 2) : summary(cells));
    const wrong = contradictions(cells);
    if (wrong.length > 0) throw new Failure(wrong.join('\n'));
});
