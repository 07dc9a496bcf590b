/**
 * Each fault of a browser that this version survives broke version 0.1.0. The same program runs under the fault with both
 * versions, in the emulator on its virtual clock. docs/reality.md has the outcomes as a table.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { open } from 'tabacus';
import { newOrigin } from '../versions/origins.js';
import { loadPackedVersion } from '../versions/packed-version.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('tabacus/emulator').Origin} Origin */
/** @typedef {import('tabacus/emulator').Tab} Page */

const earlier = await loadPackedVersion(new URL('../versions/tabacus-0.1.0.tgz', import.meta.url));

/** A call that has not ended after this time counts as one that never ends. */
const ENDLESS_MS = 600_000;

/** The number of parts in which a test waits for the end of a call. */
const PARTS = 12;

/** The real time after each part. Version 0.1.0 loads files then, for which the virtual clock does not wait. */
const LOADING_MS = 40;

/**
 * How a call has ended: with its value, with the code of its error, or `never`.
 *
 * @typedef {{ value: unknown, seconds: number }} Ending
 */

/**
 * What a program runs with.
 *
 * @typedef {object} Browser
 * @property {Origin} origin
 * @property {Page} page
 * @property {(options?: import('tabacus').OpenOptions) => Promise<Tab>} openTab  opens a tab in `page`
 * @property {() => Promise<Tab>} openOther  opens a tab in another page, to which nothing happens
 * @property {(calls: (() => unknown)[]) => Promise<Ending[]>} endings  makes one call after another
 */

/** A promise, and the function that resolves it. */
function event() {
    let happens = () => {};
    const promise = new Promise((resolve) => (happens = () => resolve('begun')));
    return { promise, happens };
}

/**
 * A program under a fault, and how its calls end.
 *
 * @typedef {object} Case
 * @property {(browser: Browser) => Promise<Ending[]>} run
 * @property {[value: unknown, seconds: number][]} before  how each call ends in 0.1.0, and the least time that it takes
 * @property {[value: unknown, seconds: number][]} now  how each call ends now, and the bound of its time
 */

/** @type {Record<string, Case>} */
const cases = {
    'dead-connection': {
        async run({ origin, page, openTab, endings }) {
            const queue = (await openTab()).queue('q');
            await queue.enqueue(1);
            origin.breakDatabase(page, 'dead-connection');
            return endings([
                () => queue.enqueue(2).then(() => 'enqueued'),
                () => queue.jobs().then((jobs) => jobs.length),
            ]);
        },
        before: [
            ['store-failed', 0],
            ['store-failed', 0],
        ],
        now: [
            ['enqueued', 1],
            [2, 1],
        ],
    },
    'hang-open': {
        async run({ origin, page, openTab, endings }) {
            origin.breakDatabase(page, 'hang-open');
            const opening = openTab();
            return endings([
                () => opening.then(() => 'opened'),
                async () => (await opening).lock('l').run(() => 'run', { timeout: 5_000 }),
            ]);
        },
        before: [
            ['opened', 30],
            ['TimeoutError', 30],
        ],
        now: [
            ['opened', 3],
            ['TimeoutError', 5],
        ],
    },
    'hang-transaction': {
        async run({ origin, page, openTab, endings }) {
            const tab = await openTab();
            await tab.queue('q').enqueue(1);
            origin.breakDatabase(page, 'hang-transaction');
            return endings([() => tab.queue('q').enqueue(2), () => tab.close().then(() => 'closed')]);
        },
        before: [
            ['never', 600],
            ['never', 600],
        ],
        now: [
            ['store-failed', 25],
            ['closed', 5],
        ],
    },
    'orphaned-lock': {
        async run({ page, openTab, openOther, endings }) {
            const [dying, other] = [await openTab(), await openOther()];
            const { promise: begun, happens } = event();
            dying.queue('q').handle(() => (happens(), new Promise(() => {})));
            await dying.queue('q').enqueue(1);
            await begun;
            page.orphanLocks();
            const { promise: again, happens: repeats } = event();
            other.queue('q').handle(repeats);
            return endings([() => again]);
        },
        before: [['never', 600]],
        now: [['begun', 10]],
    },
    suspend: {
        async run({ page, openTab, openOther, endings }) {
            const [leading, other] = [await openTab(), await openOther()];
            const { promise: leads, happens } = event();
            leading
                .leader('l')
                .run(() => (happens(), new Promise(() => {})))
                .catch(() => {});
            await leads;
            page.suspend();
            return endings([() => other.leader('l').run(() => 'leads')]);
        },
        before: [['never', 600]],
        now: [['leads', 10]],
    },
    'clock-jump': {
        async run({ origin, page, openTab, endings }) {
            const queue = (await openTab()).queue('q');
            const { promise: begun, happens } = event();
            queue.handle(happens);
            await queue.enqueue(1, { delay: 10_000 });
            origin.setClock(page.window.Date.now() - 86_400_000);
            const began_ms = page.window.performance.now();
            const isLate = () => page.window.performance.now() - began_ms > 9_000;
            return endings([() => begun.then(() => (isLate() ? 'after its delay' : 'too early'))]);
        },
        before: [['too early', 0]],
        now: [['after its delay', 10]],
    },
    'deny-query': {
        async run({ page, openTab, endings }) {
            const tab = await openTab();
            page.denyQuery();
            return endings([() => tab.lock('l').isLocked(), () => tab.sequence('s').next()]);
        },
        before: [
            ['unavailable', 0],
            ['unavailable', 0],
        ],
        now: [
            [false, 1],
            [1, 1],
        ],
    },
    // In Chromium, all of these refuse where the user blocks site data.
    'refuse-locks': {
        async run({ page, openTab, endings }) {
            page.refuseLocks();
            const { DOMException, queueMicrotask } = page.window;
            const denying = () => {
                const error = new DOMException('The user denied permission.', 'UnknownError');
                /** @type {any} */
                const request = { error };
                queueMicrotask(() => request.onerror?.({ preventDefault: () => {}, target: request }));
                return request;
            };
            const refusing = () => {
                throw new DOMException('Access is denied.', 'SecurityError');
            };
            Object.defineProperty(page.window, 'indexedDB', { value: { open: denying } });
            Object.defineProperty(page.window, 'localStorage', { get: refusing });
            const tab = await openTab({ allowWeaker: true });
            return endings([() => tab.capabilities.exclusion, () => tab.lock('l').run(() => 'run')]);
        },
        before: [
            ['web-locks', 0],
            ['unavailable', 0],
        ],
        now: [
            ['none', 1],
            ['run', 1],
        ],
    },
};

/** Resolves with `never` when a call has had all the time that it may need. @param {Page} clock */
async function never({ window }) {
    for (let part = 0; part < PARTS; part++) {
        await new Promise((resolve) => window.setTimeout(resolve, ENDLESS_MS / PARTS));
        await delay(LOADING_MS);
    }
    return 'never';
}

/** Makes one call after another in a browser whose page `clock` shows how long each takes. @param {Page} clock */
const endingsBy = (clock) => async (/** @type {(() => unknown)[]} */ calls) => {
    const { performance } = clock.window;
    const endings = [];
    for (const call of calls) {
        const began_ms = performance.now();
        const value = await Promise.race([
            new Promise((resolve) => resolve(call())).catch(({ name, code }) =>
                typeof code === 'string' ? code : name,
            ),
            never(clock),
        ]);
        endings.push({ value, seconds: Math.round((performance.now() - began_ms) / 1000) });
    }
    return endings;
};

/** @param {Case} program @param {typeof open} openVersion */
async function endingsOf({ run }, openVersion) {
    const origin = await newOrigin({ seed: 1 });
    const [clock, page, other] = [origin.openTab(), origin.openTab(), origin.openTab()];
    return run({
        origin,
        page,
        openTab: (options) => openVersion({ window: page.window, ...options }),
        openOther: () => openVersion({ window: other.window }),
        endings: endingsBy(clock),
    });
}

/** Loads the files of version 0.1.0, so that no time of the virtual clock passes while one is loaded. */
async function loadEarlier() {
    const origin = await newOrigin({ seed: 1 });
    const tab = await earlier.open({ window: origin.openTab().window });
    await tab.leader('l').run(() => tab.sequence('s').next());
    await tab.queue('q').enqueue(1);
    await tab.close();
}

/** @param {[unknown, number][]} pairs */
const first = (pairs) => pairs.map(([value]) => value);

for (const [fault, program] of Object.entries(cases)) {
    test(`${fault} broke version 0.1.0, and this one goes on`, async () => {
        await loadEarlier();
        const before = await endingsOf(program, earlier.open);
        const now = await endingsOf(program, open);
        const values = (/** @type {{ value: unknown }[]} */ endings) => endings.map(({ value }) => value);
        assert.deepEqual([values(before), values(now)], [first(program.before), first(program.now)]);
        for (const [at, { seconds }] of before.entries())
            assert.ok(seconds >= Number(program.before[at]?.[1]), `0.1.0: ${seconds} s`);
        for (const [at, { seconds }] of now.entries())
            assert.ok(seconds <= Number(program.now[at]?.[1]), `${seconds} s`);
    });
}
