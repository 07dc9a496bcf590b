/**
 * A race: all open tabs increment the same counter at once as fast as they can, by one strategy after another. Then
 * the missing increments are reported.
 *
 * The tab in which Race was pressed leads. It sends questions, and every tab, including itself, answers:
 *
 *     read   → value   the tab flushes, reads and sends the value; repeated until all have sent the same value twice
 *     go     → ran     the tab increments for a time, flushes, and sends how often it added
 *     read   → value   as before; the difference is what was counted, and the other increments are lost
 *
 * Every tab receives every message, so every tab shows the whole race.
 */

import { asker } from './asker.js';
import { hammer } from './hammer.js';
import { addsMaxOf, STRATEGIES } from './strategies.js';

/** The lock that the leader holds, so that one race runs at a time. */
const LEADER = 'tabacus-demo/race';

/** The pause between two rounds of reading, in which late writes arrive. */
const SETTLE_ms = 150;
const SETTLE_rounds_max = 40;

/** The interval at which a running tab reports its progress. It also reports at its end. */
export const REPORT_ms = 250;

/** @typedef {import('./strategies.js').StrategyName} StrategyName */

/**
 * @typedef {object} Outcome
 * @property {StrategyName} strategy
 * @property {number} tabs
 * @property {number} attempted
 * @property {number} counted
 * @property {number} lost
 * @property {number} rate  attempted increments per second, including the time of the flush at the end
 * @property {string[]} notes  remarks without which the numbers would mislead
 */

/** @param {Pick<Outcome, 'attempted' | 'lost'>} outcome */
export const lostShare = ({ attempted, lost }) => (attempted === 0 ? 0 : lost / attempted);

/**
 * Takes part in every race that any tab starts.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {import('./strategies.js').Counters} counters
 */
export function takePart(channel, { me }, counters) {
    channel.on('read', async ({ round, strategy }) => {
        const counter = counters[/** @type {StrategyName} */ (strategy)];
        channel.send({ type: 'value', round, tab: me.id, value: await settled(counter) });
    });
    channel.on('go', async ({ round, strategy, duration_ms, tabs }) => {
        if (!tabs.includes(me.id)) return;
        const counter = counters[/** @type {StrategyName} */ (strategy)];
        const ran = await run(counter, duration_ms, addsMaxOf(strategy), (progress) =>
            channel.send({ type: 'progress', strategy, tab: me.id, ...progress }),
        );
        channel.send({ type: 'ran', round, tab: me.id, ...ran });
    });
}

/**
 * The value after a flush. If the store fails, it is the value that this tab knows.
 *
 * @param {import('./strategies.js').Counter} counter
 */
async function settled(counter) {
    try {
        await counter.flush();
        return await counter.read();
    } catch {
        return counter.value;
    }
}

/**
 * @param {import('./strategies.js').Counter} counter
 * @param {number} duration_ms
 * @param {number} adds_max
 * @param {(progress: import('./hammer.js').Progress) => void} report
 */
async function run(counter, duration_ms, adds_max, report) {
    const start_ms = performance.now();
    let reported_ms = 0;
    const ran = await hammer(counter, duration_ms, adds_max, (progress) => {
        const due_ms = Math.min(reported_ms + REPORT_ms, duration_ms);
        if (progress.elapsed_ms < due_ms) return;
        reported_ms = Math.floor(progress.elapsed_ms / REPORT_ms) * REPORT_ms;
        report(progress);
    });
    return { ...ran, elapsed_ms: performance.now() - start_ms };
}

/**
 * Leads a race, unless another tab does.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {number} duration_ms  of each strategy
 * @returns {Promise<boolean>} whether this tab led it
 */
export function lead(channel, presence, duration_ms) {
    return navigator.locks.request(LEADER, { ifAvailable: true }, async (lock) => {
        if (!lock) return false;
        const race = { duration_ms, leader: presence.me.id };
        channel.send({ type: 'race', ...race });
        for (const { name } of STRATEGIES) {
            channel.send({ type: 'outcome', ...(await heat(channel, presence, name, race)) });
        }
        channel.send({ type: 'finish' });
        return true;
    });
}

/**
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {StrategyName} strategy
 * @param {{ duration_ms: number, leader: string }} race  is sent with each stage, for tabs that were opened meanwhile
 * @returns {Promise<Outcome>}
 */
async function heat(channel, presence, strategy, race) {
    const { duration_ms } = race;
    const ask = asker(channel, presence);
    channel.send({ type: 'heat', strategy, ...race });
    const before = await settle(ask, strategy);
    /** The last report of each tab, which counts if the tab ends before it answers. @type {Map<string, any>} */
    const reports = new Map();
    const stop = channel.on('progress', (report) => reports.set(report.tab, report));
    const ran = await ask({ type: 'go', strategy, duration_ms }, 'ran', duration_ms);
    stop();
    channel.send({ type: 'settling', strategy, ...race });
    const after = await settle(ask, strategy);
    const ended = ran.missing.flatMap((id) => reports.get(id) ?? []);
    const notes = notesOn(ran, after);
    return { strategy, ...reckon([...ran.answers, ...ended], after.value - before.value, notes) };
}

/**
 * @param {{ attempted: number, elapsed_ms: number }[]} runs
 * @param {number} counted
 * @param {string[]} notes
 */
function reckon(runs, counted, notes) {
    const attempted = runs.reduce((sum, run) => sum + run.attempted, 0);
    const elapsed_s = Math.max(...runs.map(({ elapsed_ms }) => elapsed_ms)) / 1000;
    const rate = Math.round(attempted / elapsed_s);
    return { tabs: runs.length, attempted, counted, lost: attempted - counted, rate, notes };
}

/**
 * @param {import('./asker.js').Answers} ran
 * @param {{ agreed: boolean }} after
 */
function notesOn({ answers, missing }, { agreed }) {
    const notes = missing.map(
        (id) =>
            `Tab ${Number.parseInt(id, 10)} ended during the race. Its last report counts, ` +
            'so some increments may seem lost or gained.',
    );
    const errors = new Set(answers.map(({ error }) => error).filter(Boolean));
    for (const error of errors) notes.push(`A tab stopped early: ${error}`);
    if (!agreed) notes.push('The tabs still disagree. This is the largest value.');
    return notes;
}

/**
 * Reads until all tabs have sent the same value twice. Writes to localStorage reach other processes late, and an
 * increment that a tab does not see yet must not count as lost.
 *
 * @param {import('./asker.js').Ask} ask
 * @param {StrategyName} strategy
 * @returns {Promise<{ value: number, agreed: boolean }>}
 */
async function settle(ask, strategy) {
    let value = Number.NaN;
    for (let round = 0; round < SETTLE_rounds_max; round += 1) {
        const { answers } = await ask({ type: 'read', strategy }, 'value');
        const values = answers.map((answer) => answer.value);
        if (values.every((one) => one === value)) return { value, agreed: true };
        value = Math.max(...values);
        await delay(SETTLE_ms);
    }
    return { value, agreed: false };
}

/** @param {number} wait_ms */
function delay(wait_ms) {
    return new Promise((resolve) => void setTimeout(resolve, wait_ms));
}
