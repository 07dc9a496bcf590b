/** Shows the queue: the running jobs with their contexts and progress, and the number of waiting jobs. */

import { make, one } from '../dom.js';
import { integer, plural } from '../format.js';

/** @typedef {import('../../js/queue/queue-state.js').QueueState} QueueState */
/** @typedef {import('../../js/queue/queue-state.js').RunningJob} RunningJob */

/**
 * @param {import('./downloading.js').PageQueue} queue
 * @param {import('./consumer.js').Consumer} consumer
 * @param {readonly import('./library.js').Book[]} books
 */
export function showStream(queue, consumer, books) {
    const titles = new Map(books.map(({ id, title }) => [id, title]));
    /** @type {QueueState | undefined} */
    let latest;
    let due = false;
    const show = () => {
        due = false;
        if (!latest) return;
        enter(latest);
        one('#running').replaceChildren(...latest.running.map((job) => row(job, titles, consumer.name)));
        showStatus(`${sentence(latest)} ${downloaderOf(consumer)}`);
    };
    queue.subscribe((state) => {
        latest = state;
        if (!due) requestAnimationFrame(show);
        due = true;
    });
    // A background tab draws no frame, so a timer updates it.
    setInterval(() => due && show(), 1000);
}

/** @param {QueueState} state */
function enter({ paused, size }) {
    const state = paused ? 'paused' : size > 0 ? 'running' : 'idle';
    /** @type {HTMLElement} */ (one('#stream')).dataset['state'] = state;
}

/** @param {QueueState} state */
function sentence({ running, queued, paused }) {
    if (paused)
        return `Stopped, since the server could not be reached: ${plural(queued + running.length, 'page')} waiting.`;
    if (running.length + queued === 0) return 'Nothing to do.';
    return `${integer(running.length)} under way, ${integer(queued)} waiting.`;
}

/** @param {import('./consumer.js').Consumer} consumer */
function downloaderOf({ name, why }) {
    return why ? `This is ${name}; it downloads itself, ${why}.` : 'The service worker downloads.';
}

/**
 * @param {RunningJob} job
 * @param {Map<string, string>} titles
 * @param {string} me
 */
function row({ key = '', fraction = 0, note = '', attempt }, titles, me) {
    const [book = '', page] = key.split('/');
    const bar = /** @type {HTMLProgressElement} */ (make('progress'));
    [bar.max, bar.value] = [1, fraction];
    bar.setAttribute('aria-label', `Download of page ${page}`);
    const tries = attempt > 1 ? `, attempt ${attempt}` : '';
    const where = make('span', {
        class: 'where',
        text: `${note === me && note.startsWith('tab') ? 'this tab' : note}${tries}`,
    });
    const element = make(
        'li',
        {},
        make('span', { text: `${titles.get(book) ?? book}, page ${page}` }),
        where,
        bar,
    );
    Object.assign(element.dataset, { page: key, here: String(note === me) });
    return element;
}

/** @param {string} text */
function showStatus(text) {
    const element = one('#stream-status');
    if (element.textContent !== text) element.textContent = text;
}
