/**
 * Work of every kind that stores something: a counter, a fenced commit under a lock, and a queue. It goes on until the
 * test stops it. The page reports what was attempted, what was acknowledged, and how each operation ended.
 */

// @ts-ignore: served by the tests' server
import { open } from '/dist/web/tabacus.js';

/** @typedef {import('tabacus').Tab} Tab */

/**
 * @typedef {object} Done
 * @property {number} attempted  the number of operations that have begun
 * @property {number} acknowledged  the number of operations that have succeeded
 * @property {number} ended  the number of operations that have ended in any way
 */

/** Shorter than by default, so that a store without answers is noticed soon. */
const TIMEOUTS = { open: 2000, transaction: 3000, close: 3000 };

const PAUSE_MS = 10;
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

const me = crypto.randomUUID();

const counter = 'deaths';
const queue = 'deaths';
const store = 'deaths';

/** @returns {Done} */
const nothing = () => ({ attempted: 0, acknowledged: 0, ended: 0 });

const report = {
    count: nothing(),
    commit: nothing(),
    enqueue: nothing(),
    /** How often the function of one commit was called, at most. */
    calls: 0,
    /** The payloads of the jobs that were acknowledged. @type {string[]} */
    enqueued: [],
    /** The jobs that were handled: payload and identifier. @type {[string, string][]} */
    handled: [],
    /** The codes of the errors. @type {Record<string, number>} */
    errors: {},
    /** The codes of the warnings. @type {string[]} */
    warnings: [],
};

/** @typedef {typeof report} Report */

/** Aborts when no further operation may begin. */
const stopping = new AbortController();

/** @type {Record<'count' | 'commit' | 'enqueue', (attempt: string) => Promise<unknown>>} */
const operations = {
    count() {
        tab.counter(counter).add(1);
        return tab.counter(counter).flush();
    },
    commit() {
        let calls = 0;
        return tab.lock('deaths').run((held) =>
            held.commit(store, async (tx) => {
                report.calls = Math.max(report.calls, ++calls);
                tx.put(store, 'sum', ((await tx.get(store, 'sum')) ?? 0) + 1);
            }),
        );
    },
    enqueue: (payload) =>
        tab
            .queue(queue)
            .enqueue(payload)
            .then(() => report.enqueued.push(payload)),
};

/** @param {keyof typeof operations} kind */
async function repeat(kind) {
    const done = report[kind];
    while (!stopping.signal.aborted) {
        const attempt = `${me}/${++done.attempted}`;
        try {
            await operations[kind](attempt);
            ++done.acknowledged;
        } catch (/** @type {any} */ error) {
            const code = `${kind}: ${error.code ?? error.name}`;
            report.errors[code] = (report.errors[code] ?? 0) + 1;
        }
        ++done.ended;
        await pause();
    }
}

/** Handles the jobs of all pages. */
const handle = () => tab.queue(queue).handle(({ payload, id }) => void report.handled.push([payload, id]));

/** Reads the contents of the store once all jobs are settled. */
async function stored() {
    await tab.queue(queue).onIdle();
    const sum = await tab
        .lock('deaths')
        .run((held) => held.commit(store, async (tx) => (await tx.get(store, 'sum')) ?? 0));
    const dead = (await tab.queue(queue).deadLetters()).length;
    return { count: await tab.counter(counter).read(), sum, dead };
}

/**
 * Sends the report to the test, and receives what the page is to do. The request fails while no network process runs.
 *
 * @param {object} [also]
 * @returns {Promise<{ task: 'work' | 'stop' | 'reload' | 'read' }>}
 */
async function ask(also) {
    const body = JSON.stringify({ document: me, report, ...also });
    for (;;) {
        try {
            return await (await fetch('/report', { method: 'POST', body })).json();
        } catch {
            await pause();
        }
    }
}

/** Works until the test ends it, and closes the tab, which ends even if nothing can be stored. */
async function work() {
    const kinds = /** @type {(keyof typeof operations)[]} */ (Object.keys(operations));
    const ends = Promise.all(kinds.map(repeat));
    while ((await ask()).task === 'work') await pause();
    stopping.abort();
    await ends;
    await tab.close().catch(() => {});
    return { ended: true };
}

const { task } = await ask();
const tab = /** @type {Tab} */ (await open({ namespace: 'deaths', timeouts: TIMEOUTS }));
tab.addEventListener('warning', ({ detail }) => void report.warnings.push(detail.code));
handle();
const result = task === 'work' ? await work() : { stored: await stored() };
while ((await ask(result)).task !== 'reload') await pause();
location.reload();
