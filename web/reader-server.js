/**
 * What the reader (demo/reader) is served by: a library that is as slow and as unreliable as one asks,
 * and that notes what a queue must never let happen: one page fetched twice at the same time, or more
 * pages at once than the stream is wide.
 *
 *     GET  /books                  → the catalogue
 *     GET  /books/<id>/<page>      → a page, late, slowly, or not at all
 *     GET  /state                  → { settings, log }
 *     POST /settings { latency_ms, bandwidth, failures, offline }, any of them → the same
 *     POST /reset                  begins the log anew; pages under way are noted in the new one
 */

import { BOOKS, bookOf, numbers, pageOf } from './reader-books.js';

/**
 * @typedef {object} Settings
 * @property {number} latency_ms  before the first byte of a page, 0 to 60,000
 * @property {number} bandwidth  of each fetch in bytes a second, 0 (unlimited) to 1e9
 * @property {number} failures  the share of fetches that fail, 0 to 1: every second one with a 503, the
 *   others cut off in the middle
 * @property {boolean} offline  cut off whoever asks for a page
 */

/**
 * @typedef {object} Log
 * @property {number} requests  for pages
 * @property {number} delivered  sent whole
 * @property {number} failed  on purpose
 * @property {number} cut  for being offline
 * @property {number} abandoned  by who had asked, before they were sent whole
 * @property {number} again  deliveries of a page that had been delivered before
 * @property {number} inFlight  fetches under way
 * @property {number} inFlightMost  the most at once
 * @property {number} overlaps  fetches that began while another of the same page was under way
 * @property {number} handovers  fetches that began before the connection of one who was gone had ended: not
 *   counted in the two above
 */

/**
 * One fetch of a page. It is under way until `leave`, which is called before the last byte goes out, or before
 * the connection is cut: who has seen that may ask for the next page, and must not be noted as asking for both.
 *
 * @typedef {object} Fetch
 * @property {'deliver' | 'refuse' | 'break' | 'cut'} fate
 * @property {() => void} leave
 * @property {(whole: boolean) => void} closed  the connection has ended, or had sent everything
 */

const bodyBytesMax = 4096;

/**
 * A browser that frees the locks of a killed tab closes its connections a little later, and whoever takes over may
 * be quicker than that. So what was under way when a fetch began is judged so much later: without those whose
 * client has gone meanwhile.
 */
const JUDGE_AFTER_ms = 250;

/** A slow body goes out in pieces, so many a second. */
const PIECES_per_s = 20;

const SEED = 20_260_101;

/** @type {Readonly<Settings>} */
const DEFAULTS = Object.freeze({ latency_ms: 250, bandwidth: 20_000, failures: 0, offline: false });

/** What each setting may be. @type {Record<keyof Settings, (value: unknown) => boolean>} */
const ALLOWED = {
    latency_ms: (value) => between(value, 0, 60_000),
    bandwidth: (value) => between(value, 0, 1e9),
    failures: (value) => between(value, 0, 1),
    offline: (value) => typeof value === 'boolean',
};

/** @param {unknown} value @param {number} least @param {number} most */
const between = (value, least, most) => typeof value === 'number' && value >= least && value <= most;

export class ReaderServer {
    /** @type {Settings} */
    settings = { ...DEFAULTS };

    /** @type {Log} */
    log = emptyLog();

    /** What is under way. @type {Set<{ page: string, abandoned: boolean }>} */
    #under = new Set();

    /** The judgements to come. @type {Set<Promise<unknown>>} */
    #pending = new Set();

    /** How often each page was sent whole. @type {Map<string, number>} */
    #delivered = new Map();

    #random = numbers(SEED);

    /**
     * @param {unknown} given some of the settings
     * @returns {string | null} what is wrong with them; then nothing was set
     */
    set(given) {
        if (typeof given !== 'object' || given === null) return 'settings must be an object';
        for (const [name, value] of Object.entries(given)) {
            if (!Object.hasOwn(ALLOWED, name)) return `there is no setting ${name}`;
            if (!ALLOWED[/** @type {keyof Settings} */ (name)](value)) return `${name} must not be ${value}`;
        }
        Object.assign(this.settings, given);
        return null;
    }

    reset() {
        this.log = { ...emptyLog(), inFlight: this.#under.size };
        this.#delivered.clear();
        this.#random = numbers(SEED);
    }

    /** @param {string} page `<book>/<number>` @returns {number} how often it was sent whole */
    delivered(page) {
        return this.#delivered.get(page) ?? 0;
    }

    /** When all that has begun so far is judged. */
    async judged() {
        await Promise.all(this.#pending);
    }

    /**
     * @param {string} page
     * @returns {Fetch}
     */
    begin(page) {
        const fetched = { page, abandoned: false };
        this.#judgeLater(fetched, [...this.#under]);
        this.#under.add(fetched);
        this.log.requests++;
        this.log.inFlight = this.#under.size;
        const fate = this.#fate();
        const leave = () => {
            this.#under.delete(fetched);
            this.log.inFlight = this.#under.size;
        };
        /** @param {boolean} whole */
        const closed = (whole) => {
            if (whole && fate === 'deliver') this.#deliver(page);
            fetched.abandoned = this.#under.has(fetched);
            if (fetched.abandoned) this.log.abandoned++;
            leave();
        };
        return { fate, leave, closed };
    }

    /**
     * @param {{ page: string }} fetched
     * @param {{ page: string, abandoned: boolean }[]} others that were under way when it began
     */
    #judgeLater({ page }, others) {
        const { log } = this;
        log.inFlightMost = Math.max(log.inFlightMost, 1);
        if (others.length === 0) return;
        const judgement = pause(JUDGE_AFTER_ms).then(() => {
            const left = others.filter(({ abandoned }) => !abandoned);
            log.inFlightMost = Math.max(log.inFlightMost, left.length + 1);
            if (left.some((other) => other.page === page)) log.overlaps++;
            if (left.length < others.length) log.handovers++;
            this.#pending.delete(judgement);
        });
        this.#pending.add(judgement);
    }

    #fate() {
        if (this.settings.offline) {
            this.log.cut++;
            return 'cut';
        }
        if (this.#random(1_000_000) >= this.settings.failures * 1_000_000) return 'deliver';
        return ++this.log.failed % 2 === 1 ? 'refuse' : 'break';
    }

    /** @param {string} page */
    #deliver(page) {
        this.log.delivered++;
        if (this.delivered(page) > 0) this.log.again++;
        this.#delivered.set(page, this.delivered(page) + 1);
    }
}

/** @returns {Log} */
const emptyLog = () => ({
    requests: 0,
    delivered: 0,
    failed: 0,
    cut: 0,
    abandoned: 0,
    again: 0,
    inFlight: 0,
    inFlightMost: 0,
    overlaps: 0,
    handovers: 0,
});

/**
 * For web/server.js, `handlers`.
 *
 * @param {ReaderServer} library
 * @returns {import('./server.js').Handler}
 */
export const libraryHandler = (library) => async (request, response, path) => {
    const [, folder, id = '', page = ''] = (path.split('?')[0] ?? '').split('/');
    response.setHeader('Cache-Control', 'no-store'); // a page that the browser kept would hide a fetch
    const asked = `${request.method} ${folder}`;
    if (asked === 'GET books' && id) return sendPage(library, id, page, response);
    if (asked === 'GET books') return sendJson(response, 200, BOOKS);
    if (asked === 'POST reset') library.reset();
    if (asked === 'POST settings') {
        const wrong = library.set(await jsonOf(request));
        if (wrong) return sendJson(response, 400, { error: wrong });
    }
    const known = ['GET state', 'POST settings', 'POST reset'].includes(asked);
    const { settings, log } = library;
    return known
        ? sendJson(response, 200, { settings, log })
        : sendJson(response, 404, { error: 'not found' });
};

/**
 * @param {ReaderServer} library
 * @param {string} id
 * @param {string} page
 * @param {import('node:http').ServerResponse} response
 */
async function sendPage(library, id, page, response) {
    const book = bookOf(id);
    const number = /^[1-9]\d{0,3}$/.test(page) ? Number(page) : 0;
    if (!book || number < 1 || number > book.pages) return sendJson(response, 404, { error: 'no such page' });
    const fetched = library.begin(`${id}/${number}`);
    response.on('close', () => fetched.closed(response.writableFinished));
    if (fetched.fate !== 'cut') await pause(library.settings.latency_ms);
    if (fetched.fate === 'deliver' || fetched.fate === 'break') {
        return sendBody(pageOf(book, number), response, library.settings.bandwidth, fetched);
    }
    fetched.leave();
    if (fetched.fate === 'refuse') return sendJson(response, 503, { error: 'try again' });
    response.destroy();
}

/**
 * @param {{ type: string, body: string }} page
 * @param {import('node:http').ServerResponse} response
 * @param {number} bandwidth in bytes a second, 0 for all at once
 * @param {Fetch} fetched
 */
async function sendBody({ type, body }, response, bandwidth, { fate, leave }) {
    const bytes = Buffer.from(body);
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length });
    const size = bandwidth === 0 ? bytes.length : Math.max(1, Math.ceil(bandwidth / PIECES_per_s));
    const sent = fate === 'break' ? bytes.subarray(0, bytes.length / 2) : bytes;
    let at = 0;
    for (; at < sent.length - size && !response.destroyed; at += size) {
        response.write(sent.subarray(at, at + size));
        await pause(1000 / PIECES_per_s);
    }
    const rest = sent.subarray(at);
    if (fate === 'deliver') {
        leave();
        response.end(rest);
    } else {
        response.write(rest, () => {
            leave();
            response.destroy();
        });
    }
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {unknown} body
 */
async function sendJson(response, status, body) {
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(body));
}

/** @param {import('node:http').IncomingMessage} request */
async function jsonOf(request) {
    let text = '';
    for await (const chunk of request) {
        text += chunk;
        if (text.length > bodyBytesMax) return null;
    }
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

/** @param {number} wait_ms */
const pause = (wait_ms) => new Promise((resolve) => void setTimeout(resolve, wait_ms));
