/**
 * A race: every open tab hammers the same counter at once, one strategy after another, and what
 * is then missing is reported.
 *
 * The tab in which Race was pressed leads. It asks and every tab, itself included, answers:
 *
 *     read   → value   flush, then send what you read; until all have sent the same, twice
 *     go     → ran     hammer for so long, flush, send how often you added
 *     read   → value   as before; what came on top was counted, the rest was lost
 *
 * Every tab receives every message, so every tab shows the whole race.
 */

import { asker } from './asker.js';
import { hammer } from './hammer.js';
import { addsMaxOf, STRATEGIES } from './strategies.js';

/** One race at a time: the leader holds this lock. */
const LEADER = 'tabacus-demo/race';

/** Between two rounds of reading, so that late news can arrive. */
const SETTLE_ms = 150;
const SETTLE_rounds_max = 40;

/** How often a running tab reports how far it is: at every multiple of this, and at its end. */
export const REPORT_ms = 250;

/** @typedef {import('./strategies.js').StrategyName} StrategyName */

/**
 * @typedef {object} Outcome
 * @property {StrategyName} strategy
 * @property {number} tabs
 * @property {number} attempted
 * @property {number} counted
 * @property {number} lost
 * @property {number} rate  attempted in a second, the flush at the end included
 * @property {string[]} notes  what a reader of these numbers must know
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
 * If the store refuses, this is the best-known value.
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
 * @param {{ duration_ms: number, leader: string }} race  sent again with each stage, for tabs opened meanwhile
 * @returns {Promise<Outcome>}
 */
async function heat(channel, presence, strategy, race) {
    const { duration_ms } = race;
    const ask = asker(channel, presence);
    channel.send({ type: 'heat', strategy, ...race });
    const before = await settle(ask, strategy);
    /** @type {Map<string, any>} by tab, for one that does not live to answer */
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
            `Tab ${Number.parseInt(id, 10)} ended in the race. It counts as it last reported, ` +
            'so some increments may seem lost or gained.',
    );
    const errors = new Set(answers.map(({ error }) => error).filter(Boolean));
    for (const error of errors) notes.push(`A tab stopped early: ${error}`);
    if (!agreed) notes.push('The tabs still disagree. This is the largest value.');
    return notes;
}

/**
 * Reads until all tabs have sent the same value twice: what lies in localStorage reaches other processes
 * late, and a loss must not be blamed on a reader that had not received the value yet.
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
