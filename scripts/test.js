/**
 * npm test [-- stage…]: installs what is missing, builds what has changed, and runs the named stages. A name is that
 * of a group (lint, native) or of one stage (node, browser, consumers, clang-tidy, …). Without a name, every stage
 * runs but those of `npm run proof`.
 *
 * npm run proof: runs every stage, including those that take long and rarely find anything.
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

/** @param {string[]} words names of stages or groups; if empty, all stages but those of `npm run proof` are chosen */
function chosen(words) {
    const known = STAGES.filter(({ checks }) => checks);
    if (words[0] === 'proof') {
        process.env.TABACUS_PROOF = '1'; // tests that depend on timing repeat more often
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
 * Counts at least one failure for a stage that failed, since a build that breaks or a runner that crashes counts none.
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
            state === 'left out'
                ? 'not run: a stage that it needs failed'
                : closingLine(counts.get(name) ?? NOTHING);
        console.log(`${state === 'done' ? '✓' : '✗'} ${name.padEnd(20)} ${words}`);
    }
    const total = sum([...counts.values()]);
    if (total.skipped > 0) console.log(`! ${total.skipped} tests were skipped: what they check is unchecked`);
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
