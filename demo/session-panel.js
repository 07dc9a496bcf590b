/**
 * Shows the session. The tab in which the button was pressed lets the access token expire. Then it asks every tab,
 * including itself, to make requests:
 *
 *     session-go   → session-ran   the tab sends all requests at once, and reports how many were answered
 *
 * At the end it sends to all tabs what the provider has counted meanwhile.
 */

import { asker } from './asker.js';
import { make, one, showNumber } from './dom.js';
import { integer, plural } from './format.js';
import { Session } from './session.js';
import { NaiveSession } from './session-naive.js';

/** @typedef {'tabacus' | 'naive'} Kind */
/** @typedef {{ login: () => Promise<void>, request: (path: string) => Promise<Response> }} AnySession */
/** @typedef {{ tab: string, asked: number, answered: number }} Ran */
/** @typedef {Record<'expiries' | 'refreshes' | 'retries' | 'revoked' | 'served' | 'refused', number>} Log */

/** The addresses of the two providers in web/demo.js. @type {Record<Kind, string>} */
const PROVIDERS = { tabacus: './provider', naive: './provider-naive' };

/** The entries of the provider's log that the page shows. @type {(keyof Log)[]} */
const SHOWN = ['expiries', 'refreshes', 'retries', 'revoked', 'served', 'refused'];

/**
 * @param {import('../js/index.js').Tab} tab
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {(error: unknown) => void} report
 */
export function showSession(tab, channel, presence, report) {
    const sessions = {
        tabacus: new Session(/** @type {any} */ (tab), PROVIDERS.tabacus),
        naive: new NaiveSession(PROVIDERS.naive),
    };
    takePart(channel, presence, sessions);
    follow(channel);
    followLeader(channel, presence);
    const button = /** @type {HTMLButtonElement} */ (one('#session-start'));
    presence.subscribe(({ length }) => (button.textContent = `Expire it in ${plural(length, 'tab')}`));
    button.addEventListener('click', () => {
        const kind = chosen('#session-kind') === 'naive' ? 'naive' : 'tabacus';
        lead(channel, presence, sessions[kind], kind, Number(chosen('#session-requests'))).catch((error) => {
            channel.send({ type: 'session-failed', message: String(error?.message ?? error) });
            report(error);
        });
    });
    button.disabled = false;
}

/** @param {string} selector */
const chosen = (selector) => /** @type {HTMLSelectElement} */ (one(selector)).value;

/**
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {Record<Kind, AnySession>} sessions
 */
function takePart(channel, { me }, sessions) {
    channel.on('session-go', async ({ round, kind, requests, tabs }) => {
        if (!tabs.includes(me.id)) return;
        const session = sessions[/** @type {Kind} */ (kind)];
        const all = Array.from({ length: requests }, () => session.request('/resource'));
        const outcomes = await Promise.allSettled(all);
        const answered = outcomes.filter(
            (outcome) => outcome.status === 'fulfilled' && outcome.value.ok,
        ).length;
        channel.send({ type: 'session-ran', round, tab: me.id, asked: requests, answered });
    });
}

/**
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {AnySession} session
 * @param {Kind} kind
 * @param {number} requests  of each tab
 */
async function lead(channel, presence, session, kind, requests) {
    channel.send({ type: 'session-begin', leader: presence.me.id });
    await loggedIn(session);
    const before = await logOf(kind);
    await fetch(`${PROVIDERS[kind]}/expire`, { method: 'POST' });
    const { answers } = await asker(channel, presence)({ type: 'session-go', kind, requests }, 'session-ran');
    channel.send({ type: 'session-end', kind, runs: answers, before, log: await logOf(kind) });
}

/**
 * Logs in, and does so once more if the provider was restarted and does not know the stored session.
 *
 * @param {AnySession} session
 */
async function loggedIn(session) {
    await session.login();
    await session.request('/resource').catch(() => session.login());
}

/** @param {Kind} kind @returns {Promise<Log>} */
const logOf = async (kind) => (await fetch(`${PROVIDERS[kind]}/log`)).json();

/** Shows the round that any tab leads. @param {import('./channel.js').Channel} channel */
function follow(channel) {
    channel.on('session-begin', () => {
        enter('running');
        showVerdict('Every tab is asking.');
    });
    channel.on('session-end', ({ runs, before, log }) => {
        one('#session-runs').replaceChildren(...[...runs].sort((a, b) => (a.tab < b.tab ? -1 : 1)).map(row));
        for (const name of SHOWN) showNumber(one(`#session-log [data-role="${name}"]`), log[name], integer);
        showVerdict(verdict(runs, before, log));
        enter(
            'done',
            runs.every((/** @type {Ran} */ { asked, answered }) => asked === answered) ? 'exact' : 'lost',
        );
    });
    channel.on('session-failed', ({ message }) => {
        enter('done', 'lost');
        showVerdict(`The provider could not be asked: ${message}`);
    });
}

/**
 * Ends the round on this page if the tab that leads it is closed or killed.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 */
function followLeader(channel, presence) {
    let leader = '';
    channel.on('session-begin', (message) => (leader = message.leader));
    for (const end of ['session-end', 'session-failed']) channel.on(end, () => (leader = ''));
    presence.subscribe((tabs) => {
        if (!leader || tabs.some(({ id }) => id === leader)) return;
        leader = '';
        enter('done');
        showVerdict('The tab that asked is gone. The session is not.');
    });
}

/** @param {Ran} run */
function row({ tab, asked, answered }) {
    const head = make('th', { text: `Tab ${Number.parseInt(tab, 10)}` });
    head.setAttribute('scope', 'row');
    const cells = Object.entries({ asked, answered, missing: asked - answered }).map(([role, value]) => {
        const data = /** @type {HTMLDataElement} */ (make('data'));
        data.dataset['role'] = role;
        showNumber(data, value, integer);
        return make('td', {}, data);
    });
    const element = make('tr', {}, head, ...cells);
    element.dataset['verdict'] = asked === answered ? 'exact' : 'lost';
    return element;
}

/**
 * @param {Ran[]} runs
 * @param {Log} before
 * @param {Log} log
 */
function verdict(runs, before, log) {
    const asked = runs.reduce((sum, run) => sum + run.asked, 0);
    const answered = runs.reduce((sum, run) => sum + run.answered, 0);
    const refreshes = log.refreshes - before.refreshes + log.retries - before.retries;
    const summary = `${plural(asked, 'request')} from ${plural(runs.length, 'tab')}: ${plural(refreshes, 'refresh', 'refreshes')}`;
    if (answered < asked) return `${summary}, and ${integer(asked - answered)} found nobody logged in.`;
    const spare =
        refreshes > 1
            ? ` ${plural(refreshes - 1, 'refresh', 'refreshes')} too many: expire it again, since the token that was kept may be void.`
            : '';
    return `${summary}, and nobody was logged out.${spare}`;
}

/** @param {string} text */
function showVerdict(text) {
    one('#session-verdict').textContent = text;
}

/** @param {'running' | 'done'} state @param {'none' | 'exact' | 'lost'} [outcome] */
function enter(state, outcome = 'none') {
    Object.assign(/** @type {HTMLElement} */ (one('#session')).dataset, { state, outcome });
    /** @type {HTMLButtonElement} */ (one('#session-start')).disabled = state === 'running';
}
