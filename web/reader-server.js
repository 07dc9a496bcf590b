/**
 * The server of the reader (demo/reader): a library that can be set to be slow and unreliable. It logs what a queue
 * must prevent: that one page is fetched twice at the same time, or that more pages are fetched at once than the
 * width of the stream allows.
 *
 *     GET  /books                  → the catalogue
 *     GET  /books/<id>/<page>      → a page, late, slowly, or not at all
 *     GET  /state                  → { settings, log }
 *     POST /settings { latency_ms, bandwidth, failures, offline }, any of them → { settings, log }
 *     POST /reset                  begins a new log, which includes the pages under way → { settings, log }
 */

import { BOOKS, bookOf, numbers, pageOf } from './reader-books.js';

/**
 * @typedef {object} Settings
 * @property {number} latency_ms  the time before the first byte of a page, 0 to 60,000
 * @property {number} bandwidth  of each fetch in bytes a second, 0 (unlimited) to 1e9
 * @property {number} failures  the share of fetches that fail, 0 to 1: half of them are answered with 503, the others
 *   are cut in the middle
 * @property {boolean} offline  whether every connection that requests a page is cut
 */

/**
 * @typedef {object} Log
 * @property {number} requests  fetches of pages
 * @property {number} delivered  fetches that were sent completely
 * @property {number} failed  fetches that failed because of `failures`
 * @property {number} cut  fetches that were cut because of `offline`
 * @property {number} abandoned  fetches whose client ended the connection before they were sent completely
 * @property {number} again  deliveries of a page that had been delivered before
 * @property {number} inFlight  fetches under way
 * @property {number} inFlightMost  the largest number of fetches under way at once
 * @property {number} overlaps  fetches that began while another fetch of the same page was under way
 * @property {number} handovers  fetches that began before the connection of a crashed client ended; that client's
 *   fetches do not count in `inFlightMost` and `overlaps`
 */

/**
 * One fetch of a page. It is under way until `leave()`, which is called before the last byte is sent or the connection
 * is cut: a client that has seen the end may request the next page at once, and the two must not count as an overlap.
 *
 * @typedef {object} Fetch
 * @property {'deliver' | 'refuse' | 'break' | 'cut'} fate
 * @property {() => void} leave
 * @property {(whole: boolean) => void} closed  is called when the connection ends, with whether everything was sent
 */

const bodyBytesMax = 4096;

/**
 * How long after the beginning of a fetch the server judges whether it overlaps with others. A browser that frees the
 * locks of a killed tab closes its connections a little later, and the tab that takes over may be faster. So fetches
 * whose client ends the connection within this time are not overlaps.
 */
const JUDGE_AFTER_ms = 250;

/** The number of pieces in which a slow body is sent in a second. */
const PIECES_per_s = 20;

const SEED = 20_260_101;

/** @type {Readonly<Settings>} */
const DEFAULTS = Object.freeze({ latency_ms: 250, bandwidth: 20_000, failures: 0, offline: false });

/** Whether a value is allowed for each setting. @type {Record<keyof Settings, (value: unknown) => boolean>} */
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

    /** The fetches under way. @type {Set<{ page: string, abandoned: boolean }>} */
    #under = new Set();

    /** The judgements that are still to be made. @type {Set<Promise<unknown>>} */
    #pending = new Set();

    /** How often each page was sent completely. @type {Map<string, number>} */
    #delivered = new Map();

    #random = numbers(SEED);

    /**
     * @param {unknown} given some of the settings
     * @returns {string | null} what is wrong with them, and then nothing is set; null if they are set
     */
    set(given) {
        if (typeof given !== 'object' || given === null) return 'settings must be an object';
        for (const [name, value] of Object.entries(given)) {
            if (!Object.hasOwn(ALLOWED, name))
                return `unknown setting "${name}"; choose one of: ${Object.keys(ALLOWED).join(', ')}`;
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

    /** @param {string} page `<book>/<number>` @returns {number} how often it was sent completely */
    delivered(page) {
        return this.#delivered.get(page) ?? 0;
    }

    /** Resolves once all fetches that have begun so far are judged. */
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
 * The handler of a library, for the option `handlers` of web/server.js.
 *
 * @param {ReaderServer} library
 * @returns {import('./server.js').Handler}
 */
export const libraryHandler = (library) => async (request, response, path) => {
    const [, folder, id = '', page = ''] = (path.split('?')[0] ?? '').split('/');
    response.setHeader('Cache-Control', 'no-store'); // a cached page would hide a fetch
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
