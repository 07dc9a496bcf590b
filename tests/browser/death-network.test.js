/**
 * WebKit's network process, which has all of IndexedDB, is killed while pages work. Every operation ends, no
 * acknowledged write is lost, and each page goes on through a hidden frame. The pages are loaded again before the test
 * reads the store. The death ends WebKit's automation, so the pages request their tasks from the test.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createServer } from '../../web/server.js';
import { describeIn, ENGINES, launchUndrivenWebKit } from './harness/engines.js';
import { isAlive, temporaryFolder } from './harness/processes.js';
import { repetitions } from './harness/repetitions.js';
import { DIST } from './harness/site.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./page/acknowledged-work.js').Report} Report */
/** @typedef {{ count: number, sum: number }} Stored */

/**
 * The last report of a document.
 *
 * @typedef {object} State
 * @property {string} document
 * @property {Report} report
 * @property {true} [ended]  all of its operations have ended
 * @property {Stored} [stored]  what it has read
 */

const DEATHS = repetitions(1, 20);
const TABS = 2;
const KINDS = /** @type {const} */ (['count', 'commit', 'enqueue']);

/** The reports of the pages, and their tasks. */
class Control {
    /** @type {'work' | 'stop' | 'read'} */
    task = 'work';
    /** The documents that are to load their page again. @type {Set<string>} */
    #reloaded = new Set();
    /** The last report of each document. @type {Map<string, State>} */
    states = new Map();

    /** Answers a page that reports. @type {import('../../web/server.js').Handler} */
    handle = async (request, response) => {
        let body = '';
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
        /** @type {State} */
        const state = JSON.parse(body);
        this.states.set(state.document, state);
        const task = this.#reloaded.has(state.document) ? 'reload' : this.task;
        response.end(JSON.stringify({ task }));
    };

    /**
     * The documents that are shown, one in each tab, once they are as expected.
     *
     * @param {(state: State) => boolean} [accept]
     */
    shown(accept = () => true) {
        const all = [...this.states.values()].filter(({ document }) => !this.#reloaded.has(document));
        return all.length === TABS && all.every(accept) ? all : undefined;
    }

    /** Waits until an operation of every kind that began after this call has ended in each page. */
    async someEnd() {
        const before = await until(() => this.shown(), 'the pages');
        for (const { document, report } of before)
            for (const kind of KINDS)
                // The first may have begun before.
                await until(
                    () => Number(this.states.get(document)?.report[kind].ended) > report[kind].ended + 1,
                    `the end of an operation (${kind})`,
                );
    }

    /** Ends the work of the pages. Resolves when all operations have ended. */
    async stop() {
        this.task = 'stop';
        await until(() => this.shown(({ ended }) => Boolean(ended)), 'the end of all operations');
    }

    /** Loads the pages again. @param {'work' | 'read'} task  what they do then */
    reload(task) {
        this.task = task;
        for (const document of this.states.keys()) this.#reloaded.add(document);
    }

    /** Resolves with what each page has read. */
    async stored() {
        const shown = await until(() => this.shown(({ stored }) => Boolean(stored)), 'what is stored');
        return shown.flatMap(({ stored }) => stored ?? []);
    }
}

/**
 * Compares what is stored with what was acknowledged.
 *
 * @param {Report[]} reports
 * @param {Stored} stored
 */
function assertKept(reports, stored) {
    /** @param {'count' | 'commit'} kind @param {'attempted' | 'acknowledged'} what */
    const total = (kind, what) => reports.reduce((sum, report) => sum + report[kind][what], 0);
    for (const [kind, value] of /** @type {const} */ ([
        ['count', stored.count],
        ['commit', stored.sum],
    ])) {
        const [least, most] = [total(kind, 'acknowledged'), total(kind, 'attempted')];
        assert.ok(least > 0 && least <= value && value <= most, `${kind}: ${least}, ${value}, ${most}`);
    }
    assert.ok(
        reports.every(({ calls }) => calls <= 1),
        'a function of a commit was called again',
    );
    /** The identifiers of the jobs with each payload. @type {Map<string, Set<string>>} */
    const jobs = new Map();
    for (const [payload, id] of reports.flatMap(({ handled }) => handled))
        jobs.set(payload, (jobs.get(payload) ?? new Set()).add(id));
    const lost = reports.flatMap(({ enqueued }) => enqueued).filter((payload) => !jobs.has(payload));
    assert.deepEqual(lost, [], 'jobs that were enqueued are lost');
    const twice = [...jobs].filter(([, ids]) => ids.size > 1);
    assert.deepEqual(twice, [], 'jobs were enqueued twice');
}

describeIn([ENGINES.webkit], 'A network process that is killed while tabs work', () => {
    const limits = { timeout: 600_000 };
    it(
        `every operation ends, and all that was acknowledged is there, in each of ${DEATHS} rounds`,
        limits,
        async (t) => {
            const control = new Control();
            const server = await createServer({
                mounts: { '/': fileURLToPath(new URL('page', import.meta.url)), '/dist': DIST },
                handlers: { '/report': control.handle },
            });
            const profile = await temporaryFolder();
            const urls = Array(TABS).fill(`${server.url}/acknowledged-work.html`);
            const browser = await launchUndrivenWebKit({ profile: profile.path, urls });
            try {
                for (let death = 1; death <= DEATHS; ++death) {
                    await control.someEnd();
                    const victim = browser.networkPid();
                    process.kill(victim, 'SIGKILL');
                    await until(() => !isAlive(victim), 'the end of the network process');
                    await control.someEnd();
                    await control.stop();
                    for (const { report } of control.shown() ?? [])
                        assert.deepEqual(report.warnings, ['connection-replaced']);
                    control.reload(death < DEATHS ? 'work' : 'read');
                }
                const [stored, same] = await control.stored();
                assert.deepEqual(stored, same);
                const reports = [...control.states.values()].map(({ report }) => report);
                assertKept(reports, stored ?? { count: 0, sum: 0 });
                const errors = new Set(reports.flatMap((report) => Object.keys(report.errors)));
                t.diagnostic(`${JSON.stringify(stored)}, errors ${[...errors].join(', ')}`);
            } finally {
                await browser.kill();
                await server.close();
                await profile.remove();
            }
        },
    );
});
