/** The race on the page: the button, how far it is, and the sentence at its end. */

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
 * @param {{ log: (words: string) => void, report: (error: unknown) => void }} out
 */
export function showRace(channel, presence, { log, report }) {
    const button = /** @type {HTMLButtonElement} */ (one('#start'));
    button.addEventListener('click', () => {
        const duration_ms = Number(/** @type {HTMLSelectElement} */ (one('#duration')).value);
        lead(channel, presence, duration_ms).then((led) => led || log('A race is on already.'), report);
    });
    presence.subscribe(({ length }) => {
        button.textContent = `Race in ${plural(length, 'tab')}`;
        if (state() === 'idle') say(invitation(length));
    });
    followRace(channel, log);
    followLeader(channel, presence);
    button.disabled = false;
}

/**
 * What any tab leads is shown in every tab.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {(words: string) => void} log
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
        say(`${strategy} is running in every tab.`);
    });
    followProgress(channel, (strategy, share) =>
        showProgress((placeOf(strategy) + share) / STRATEGIES.length),
    );
    channel.on('settling', ({ strategy }) => {
        enter('settling', strategy);
        say(`Waiting until all tabs read the same from ${strategy}.`);
    });
    channel.on('outcome', (/** @type {Outcome} */ outcome) => {
        outcomes.push(outcome);
        showOutcome(outcome);
        showProgress((placeOf(outcome.strategy) + 1) / STRATEGIES.length);
        for (const note of outcome.notes) log(`${outcome.strategy}: ${note}`);
    });
    channel.on('finish', () => {
        enter('done', null);
        say(verdict(outcomes));
    });
}

/**
 * A race whose leader was closed or killed has no end to wait for.
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
        say('The tab that led the race is gone, and the race with it.');
    });
}

/**
 * @param {import('./channel.js').Channel} channel
 * @param {(strategy: string, share: number) => void} show  how much of this run is over
 */
function followProgress(channel, show) {
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
        show(progress.strategy, Math.min(1, progress.elapsed_ms / run_ms));
    });
}

/** @param {string} strategy */
const placeOf = (strategy) => STRATEGIES.findIndex(({ name }) => name === strategy);

/** @param {number} tabs */
function invitation(tabs) {
    if (tabs > 1) return 'Ready.';
    return 'Open another tab first: a tab alone has nobody to race with.';
}

/**
 * The worst and the default, in one breath.
 *
 * @param {Outcome[]} outcomes
 */
function verdict(outcomes) {
    const ours = outcomes.find(({ strategy }) => strategy === 'replicated');
    if (!ours) return 'The race is over.';
    const worst = outcomes.reduce((a, b) => (lostShare(b) > lostShare(a) ? b : a));
    const said = `replicated lost ${ours.lost === 0 ? 'none' : integer(ours.lost)} of ${integer(ours.attempted)} increments in ${plural(ours.tabs, 'tab')}`;
    if (worst.lost <= 0) return `${said}. Nothing else lost any this time.`;
    return `${worst.strategy} lost ${percent(lostShare(worst))}; ${said}.`;
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

/** @param {string} words */
function say(words) {
    const verdict = one('#verdict');
    if (verdict.textContent !== words) verdict.textContent = words;
}

/** @param {number} share */
function showProgress(share) {
    /** @type {HTMLProgressElement} */ (one('#progress')).value = share;
}
