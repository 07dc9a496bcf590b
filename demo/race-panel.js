/** Shows the race: the button, its progress, and a sentence on its result. */

import { clearResults, markRunning, showAttempted, showOutcome } from './cards.js';
import { one } from './dom.js';
import { integer, percent, plural } from './format.js';
import { lead, lostShare } from './race.js';
import { STRATEGIES } from './strategies.js';

/** @typedef {import('./race.js').Outcome} Outcome */
/** @typedef {import('./strategies.js').StrategyName} StrategyName */

/**
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {{ log: (text: string) => void, report: (error: unknown) => void }} out
 */
export function showRace(channel, presence, { log, report }) {
    const button = /** @type {HTMLButtonElement} */ (one('#start'));
    button.addEventListener('click', () => {
        const duration_ms = Number(/** @type {HTMLSelectElement} */ (one('#duration')).value);
        lead(channel, presence, duration_ms).then((led) => led || log('A race is already running.'), report);
    });
    presence.subscribe(({ length }) => {
        button.textContent = `Race in ${plural(length, 'tab')}`;
        if (state() === 'idle') show(invitation(length));
    });
    followRace(channel, log);
    followLeader(channel, presence);
    button.disabled = false;
}

/**
 * Shows the race that any tab leads.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {(text: string) => void} log
 */
function followRace(channel, log) {
    /** @type {Outcome[]} */
    let outcomes = [];
    channel.on('race', () => {
        outcomes = [];
        clearResults();
        showProgress(0);
    });
    channel.on('heat', ({ strategy }) => {
        enter('running', strategy);
        show(`${strategy} is running in every tab.`);
    });
    followProgress(channel, (strategy, share) =>
        showProgress((indexOf(strategy) + share) / STRATEGIES.length),
    );
    channel.on('settling', ({ strategy }) => {
        enter('settling', strategy);
        show(`Waiting until all tabs read the same from ${strategy}.`);
    });
    channel.on('outcome', (/** @type {Outcome} */ outcome) => {
        outcomes.push(outcome);
        showOutcome(outcome);
        showProgress((indexOf(outcome.strategy) + 1) / STRATEGIES.length);
        for (const note of outcome.notes) log(`${outcome.strategy}: ${note}`);
    });
    channel.on('finish', () => {
        enter('done', null);
        show(verdict(outcomes));
    });
}

/**
 * Ends the race on this page if the tab that leads it is closed or killed.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 */
function followLeader(channel, presence) {
    let leader = '';
    for (const stage of ['race', 'heat', 'settling'])
        channel.on(stage, (message) => (leader = message.leader));
    channel.on('finish', () => (leader = ''));
    presence.subscribe((tabs) => {
        if (!leader || tabs.some(({ id }) => id === leader)) return;
        leader = '';
        enter('done', null);
        show('The tab that led the race is gone, and the race with it.');
    });
}

/**
 * @param {import('./channel.js').Channel} channel
 * @param {(strategy: string, share: number) => void} onProgress  receives how much of the strategy's time is over, 0
 *   to 1
 */
function followProgress(channel, onProgress) {
    /** @type {Map<string, number>} */
    const attempted = new Map();
    let run_ms = 1;
    channel.on('heat', ({ duration_ms }) => {
        run_ms = duration_ms;
        attempted.clear();
    });
    channel.on('progress', (progress) => {
        attempted.set(progress.tab, progress.attempted);
        showAttempted(
            progress.strategy,
            [...attempted.values()].reduce((sum, one) => sum + one),
        );
        onProgress(progress.strategy, Math.min(1, progress.elapsed_ms / run_ms));
    });
}

/** @param {string} strategy */
const indexOf = (strategy) => STRATEGIES.findIndex(({ name }) => name === strategy);

/** @param {number} tabs */
function invitation(tabs) {
    if (tabs > 1) return 'Ready.';
    return 'Open another tab first: one tab alone cannot race.';
}

/**
 * A sentence that compares the worst strategy with the default one.
 *
 * @param {Outcome[]} outcomes
 */
function verdict(outcomes) {
    const ours = outcomes.find(({ strategy }) => strategy === 'replicated');
    if (!ours) return 'The race is over.';
    const worst = outcomes.reduce((a, b) => (lostShare(b) > lostShare(a) ? b : a));
    const summary = `replicated lost ${ours.lost === 0 ? 'none' : integer(ours.lost)} of ${integer(ours.attempted)} increments in ${plural(ours.tabs, 'tab')}`;
    if (worst.lost <= 0) return `${summary}. Nothing else lost any this time.`;
    return `${worst.strategy} lost ${percent(lostShare(worst))}; ${summary}.`;
}

const state = () => /** @type {HTMLElement} */ (one('#race')).dataset['state'];

/**
 * @param {'running' | 'settling' | 'done'} name
 * @param {StrategyName | null} strategy
 */
function enter(name, strategy) {
    /** @type {HTMLElement} */ (one('#race')).dataset['state'] = name;
    /** @type {HTMLButtonElement} */ (one('#start')).disabled = name !== 'done';
    markRunning(strategy);
}

/** @param {string} text */
function show(text) {
    const verdict = one('#verdict');
    if (verdict.textContent !== text) verdict.textContent = text;
}

/** @param {number} share */
function showProgress(share) {
    /** @type {HTMLProgressElement} */ (one('#progress')).value = share;
}
