/** Shows the log of the server, and changes its settings. */

import { one, showNumber } from '../dom.js';
import { integer, plural } from '../format.js';
import { askServer } from './library.js';
import { WIDTH } from './width.js';

/** @typedef {import('../../web/reader-server.js').Settings} Settings */
/** @typedef {import('../../web/reader-server.js').Log} Log */
/** @typedef {{ settings: Settings, log: Log }} State */

const REFRESH_ms = 500;

const SELECTS = /** @type {const} */ (['latency_ms', 'bandwidth', 'failures']);

const offline = /** @type {HTMLInputElement} */ (one('#offline'));

/**
 * @param {() => void} reached is called after each request that shows that the server can be reached
 * @param {(error: unknown) => void} report
 */
export function showServer(reached, report) {
    const refresh = async () => {
        const state = navigator.onLine ? await askServer('state').catch(() => null) : null;
        if (state && !state.settings.offline) reached();
        if (state) show(state);
        else showVerdict('The server does not answer.', 'lost');
    };
    const set = (/** @type {Partial<Settings>} */ settings) =>
        askServer('settings', settings).then(refresh, report);
    offline.addEventListener('change', () => set({ offline: offline.checked }));
    for (const name of SELECTS) {
        const select = /** @type {HTMLSelectElement} */ (one(`#${name}`));
        select.addEventListener('change', () => set({ [name]: Number(select.value) }));
    }
    one('#settings').addEventListener('submit', (event) => event.preventDefault());
    one('#reset').addEventListener('click', () => askServer('reset', {}).then(refresh, report));
    for (const type of ['online', 'offline']) addEventListener(type, refresh);
    // It also runs in background tabs, once a second: some tab must notice that the server can be reached again.
    setInterval(refresh, REFRESH_ms);
    void refresh();
}

/** @param {State} state */
function show({ settings, log }) {
    offline.checked = settings.offline;
    for (const name of SELECTS) {
        const select = /** @type {HTMLSelectElement} */ (one(`#${name}`));
        if (document.activeElement === select) continue;
        const value = String(settings[name]);
        if (![...select.options].some((option) => option.value === value)) select.add(new Option(value));
        select.value = value;
    }
    for (const data of /** @type {NodeListOf<HTMLDataElement>} */ (
        document.querySelectorAll('#server-log data')
    )) {
        showNumber(data, log[/** @type {keyof Log} */ (data.dataset['role'])], integer);
    }
    const broken = log.overlaps > 0 || log.inFlightMost > WIDTH;
    if (log.requests === 0) showVerdict('No page was asked for yet.', 'none');
    else if (broken) showVerdict(`Broken: ${verdict(log)}`, 'lost');
    else showVerdict(verdict(log), 'exact');
}

/** @param {Log} log */
function verdict({ overlaps, inFlightMost, delivered }) {
    const twice =
        overlaps === 0
            ? 'none was asked for twice at the same time'
            : `${plural(overlaps, 'time')} one was asked for twice at once`;
    return `${plural(delivered, 'page')} delivered; ${twice}, and no more than ${integer(inFlightMost)} at once (${WIDTH} are allowed).`;
}

/** @param {string} text @param {'none' | 'exact' | 'lost'} outcome */
function showVerdict(text, outcome) {
    const element = one('#server-verdict');
    if (element.textContent !== text) element.textContent = text;
    /** @type {HTMLElement} */ (one('#server')).dataset['outcome'] = outcome;
}
