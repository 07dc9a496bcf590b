/**
 * node scripts/plant.js [word…]: tries the faults planted in JavaScript (tests/mutation/emulator.js, host.js and
 * shared.js).
 * With words, it tries only the faults that have one of them in their file name or their description.
 */

import { closingLine } from './lib/counts.js';
import { Failure, main } from './lib/failure.js';
import { PLANTED, tryPlanted } from './lib/plant-faults.js';

await main(async () => {
    const words = process.argv.slice(2);
    const chosen = PLANTED.filter(
        ({ fault, file }) => words.length === 0 || words.some((word) => `${file} ${fault}`.includes(word)),
    );
    if (chosen.length === 0) {
        const sought = words.join('" or "');
        throw new Failure(
            `no planted fault has "${sought}" in its file name or description; see tests/mutation`,
        );
    }
    const counts = await tryPlanted(chosen);
    console.log(closingLine(counts));
    if (counts.failed > 0) process.exitCode = 1;
});
