/**
 * npm test [-- stage…]: makes ready what is missing, builds what has changed, checks everything; or
 * the stages named: lint, native, node, browser, consumers, or one such as clang-tidy.
 *
 * npm run proof: every stage, those too that take long and rarely find anything.
 */

import { closingLine, NOTHING, sum } from './lib/counts.js';
import { Failure, main } from './lib/failure.js';
import { seconds } from './lib/progress.js';
import { schedule, withNeeds } from './lib/schedule.js';
import { STAGES } from './lib/stages.js';

const CORES = 2;

/**
 * @param {string} word
 * @returns {(stage: import('./lib/stages.js').Stage) => boolean}
 */
const goesBy = (word) => (stage) => word === stage.name || word === stage.group;

/** @param {string[]} words What was asked for; nothing asks for all. */
function chosen(words) {
    const known = STAGES.filter(({ checks }) => checks);
    if (words[0] === 'proof') {
        process.env.TABACUS_PROOF = '1'; // tests repeat more often what can go wrong at any moment
        return known;
    }
    const unknown = words.find((word) => !known.some(goesBy(word)));
    if (unknown !== undefined) {
        const all = [...new Set(known.flatMap(({ name, group }) => [group ?? name, name]))];
        throw new Failure(`unknown stage "${unknown}"; choose one of: ${all.join(', ')}, proof`);
    }
    return words.length === 0
        ? known.filter(({ proof }) => !proof)
        : words.flatMap((word) => known.filter(goesBy(word)));
}

/** @typedef {Map<string, import('./lib/counts.js').Counts>} AllCounts */

/**
 * A stage as a task that prints one line when it ends.
 * @param {import('./lib/stages.js').Stage} stage
 * @param {AllCounts} counts
 * @returns {import('./lib/schedule.js').Task}
 */
function task({ name, needs, cores, run, checks }, counts) {
    /** @type {import('./lib/stages.js').Report} */
    const report = (count, skips = []) => {
        counts.set(name, count);
        for (const skip of skips) console.log(`! ${name} skipped: ${skip.trim()}`);
    };
    const body = async () => {
        const since = Date.now();
        const summaryLine = () => `${name}: ${closingLine(counts.get(name) ?? NOTHING)} (${seconds(since)})`;
        try {
            await run(report);
            if (checks) console.log(`✓ ${summaryLine()}`);
        } catch (error) {
            countFailure(name, counts);
            console.log(`✗ ${summaryLine()}`);
            console.log(error instanceof Failure ? error.message : error);
            throw error;
        }
    };
    return { name, needs, cores, run: body };
}

/**
 * A stage may fail without any test having done so: a build that breaks, a runner that crashes.
 * @param {string} name
 * @param {AllCounts} counts
 */
function countFailure(name, counts) {
    const count = counts.get(name) ?? NOTHING;
    counts.set(name, { ...count, failed: Math.max(count.failed, 1) });
}

/**
 * @param {Map<string, string>} states
 * @param {AllCounts} counts
 */
function summary(states, counts) {
    console.log('\n── summary');
    for (const { name, checks } of STAGES) {
        const state = states.get(name);
        if (state === undefined || (state === 'done' && !checks)) continue;
        if (state === 'left out') countFailure(name, counts);
        const words =
            state === 'left out' ? 'what it needs failed' : closingLine(counts.get(name) ?? NOTHING);
        console.log(`${state === 'done' ? '✓' : '✗'} ${name.padEnd(20)} ${words}`);
    }
    const total = sum([...counts.values()]);
    if (total.skipped > 0) console.log(`! ${total.skipped} skipped: what they check was not checked`);
    return total;
}

await main(async () => {
    const begun_ms = Date.now();
    const names = new Set(chosen(process.argv.slice(2)).map(({ name }) => name));
    /** @type {AllCounts} */
    const counts = new Map();
    const all = STAGES.map((stage) => task(stage, counts));
    const states = await schedule(
        withNeeds(all, ({ name }) => names.has(name)),
        CORES,
    );
    const total = summary(states, counts);
    console.log(`\n${seconds(begun_ms)} in all\n${closingLine(total)}`);
    if (total.failed > 0) process.exitCode = 1;
});
