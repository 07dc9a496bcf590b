/** IndexedDB that is not answered, in the emulator on its virtual clock: every call ends within its bound. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';
import { details, settled, sleep } from './page-waits.js';

/** How much longer than its bound a call may take: its own pauses and messages. */
const slack_ms = 100;

/** Two attempts on a connection that is not answered, each found after at most 1.25 times the bound. */
const twoAttempts_ms = 2 * 12_500 + slack_ms;

/** An origin on a virtual clock with one page, and a function that measures how long a call takes there. */
async function page() {
    const origin = await createOrigin();
    const tab = origin.openTab();
    const { window } = tab;
    /** @param {Promise<any>} call */
    const timed = async (call) => {
        const began = window.performance.now();
        const [outcome] = await Promise.allSettled([call]);
        const code = outcome.status === 'rejected' ? outcome.reason.code : undefined;
        return {
            ms: window.performance.now() - began,
            code,
            value: outcome.status === 'fulfilled' && outcome.value,
        };
    };
    return { origin, tab, window, timed };
}

test('open() resolves 3 s after it asked for a database that does not open, and what is counted moves into it', async () => {
    const { origin, tab: document, window, timed } = await page();
    const answer = origin.breakDatabase(document, 'hang-open');
    const { ms, value: tab } = await timed(open({ window }));
    assert.ok(tab && ms <= 3_000 + slack_ms, `${ms} ms`);
    assert.deepEqual([tab.capabilities.store, tab.capabilities.opening], ['indexeddb', true]);
    const warnings = details(tab, 'warning');
    const changes = details(tab, 'capabilitieschange');
    const counter = tab.counter('c');
    assert.equal(counter.add(3), 3);
    const enqueued = await timed(tab.queue('q').enqueue(1));
    assert.deepEqual(
        [enqueued.code, enqueued.ms <= 10_000 + slack_ms],
        ['store-failed', true],
        `${enqueued.ms} ms`,
    );
    // When one call has found that IndexedDB does not answer, the others do not try for themselves.
    for (const call of [
        () => counter.flush(),
        () => tab.once('o', () => 1),
        () => tab.lock('l').run(() => 1),
    ]) {
        const { ms, code } = await timed(call());
        assert.deepEqual([code, ms < 1_000], ['store-failed', true], `${call}: ${ms} ms`);
    }
    assert.equal(warnings.filter(({ code }) => code === 'store-opening').length, 1);
    answer();
    await origin.settled();
    assert.equal(tab.capabilities.opening, false);
    assert.deepEqual(changes.map(({ opening }) => opening).at(-1), false);
    const second = await open({ window: origin.openTab().window });
    assert.equal(await second.counter('c').read(), 3, 'the increments are in the store');
    await tab.queue('q').enqueue(2);
    assert.equal((await tab.queue('q').jobs()).length, 1);
    await Promise.all([tab.close(), second.close()]);
    origin.close();
});

test('calls whose transactions are not answered end, and later ones succeed when transactions are answered again', async () => {
    const { origin, tab: document, window, timed } = await page();
    const tab = await open({ window });
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    await tab.queue('q').enqueue(1);
    await tab.lock('l').run(() => {});
    const answer = origin.breakDatabase(document, 'hang-transaction');
    counter.add(1);
    /** @type {Promise<any>[]} */
    const begun = [
        counter.flush(),
        counter.read(),
        tab.queue('q').enqueue(2),
        tab.queue('q').jobs(),
        tab.once('o', () => 1),
    ];
    const calls = await Promise.all(begun.map((call) => timed(call)));
    for (const { ms, code } of calls) {
        assert.ok(['store-failed', 'unknown-commit'].includes(code), code);
        assert.ok(ms <= twoAttempts_ms, `${code} after ${ms} ms`);
    }
    answer();
    await new Promise((resolve) => window.setTimeout(resolve, 2_000));
    await counter.flush();
    assert.equal(await counter.read(), 2);
    assert.equal((await tab.queue('q').jobs()).length, 1, 'what was refused is not kept');
    await tab.close();
    origin.close();
});

test('a transaction that hangs with its connection succeeds on another one', async () => {
    const { origin, tab: document, window, timed } = await page();
    const tab = await open({ window });
    await tab.queue('q').enqueue(1);
    const answer = origin.breakDatabase(document, 'hang-transaction');
    const warnings = details(tab, 'warning');
    const enqueued = timed(tab.queue('q').enqueue(2));
    // The first attempt is given up, and the second one is answered.
    await new Promise((resolve) => window.setTimeout(resolve, 13_000));
    answer();
    const { code } = await enqueued;
    const codes = warnings.map((one) => one.code).filter((one) => one !== 'unhandled-job'); // nobody handles the jobs
    assert.deepEqual([code, codes], [undefined, ['connection-replaced']]);
    assert.equal((await tab.queue('q').jobs()).length, 2);
    await tab.close();
    origin.close();
});

test('a tab whose database another tab holds up receives no warning that IndexedDB is dead, and goes on afterwards', async () => {
    const { origin, window } = await page();
    const tab = await open({ window });
    await tab.queue('q').enqueue(1);
    const other = origin.openTab();
    const connection = await settled(other.window.indexedDB.open('tabacus/default'));
    const goOn = origin.breakDatabase(other, 'hang-transaction');
    connection
        .transaction([...connection.objectStoreNames], 'readwrite')
        .objectStore('jobs')
        .get('x');
    const warnings = details(tab, 'warning');
    const advice = /does not answer: close the tab that holds/;
    await assert.rejects(tab.queue('q').enqueue(2), { code: 'store-failed', message: advice });
    const unusable = warnings.filter(({ code }) => code === 'database-unusable');
    assert.equal(unusable.length, 1);
    assert.match(unusable[0].message, advice);
    assert.equal(tab.capabilities.store, 'memory');
    goOn();
    await sleep(window, 2_000);
    await tab.queue('q').enqueue(3);
    assert.deepEqual(
        (await tab.queue('q').jobs()).map(({ payload }) => payload),
        [1, 3],
    );
    assert.equal(tab.capabilities.store, 'indexeddb');
    await tab.close();
    origin.close();
});

test('close() ends within 5 s although transactions are not answered', async () => {
    const { origin, tab: document, window, timed } = await page();
    const tab = await open({ window });
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    origin.breakDatabase(document, 'hang-transaction');
    counter.add(1);
    const { ms, code } = await timed(tab.close());
    assert.deepEqual([code, ms <= 5_000 + slack_ms], ['store-failed', true], `${ms} ms`);
    origin.close();
});

test('a connection that dies is replaced, with and without an event, and for good only in a new document', async () => {
    const { origin, tab: document, window } = await page();
    const tab = await open({ window });
    const counter = tab.counter('c');
    const queue = tab.queue('q');
    for (const event of [false, true]) {
        counter.add(1);
        await counter.flush();
        await queue.enqueue(1);
        origin.breakDatabase(document, 'dead-connection', { event });
        counter.add(1);
        await Promise.all([counter.flush(), queue.enqueue(2)]);
    }
    assert.equal(await counter.read(), 4);
    assert.equal((await queue.jobs()).length, 4);
    Object.assign(document.window.document, { createElement: undefined }); // it can make no frame
    origin.breakDatabase(document, 'dead-connection', { forGood: true });
    await assert.rejects(queue.enqueue(3), { code: 'store-failed', message: /reload the page/ });
    assert.equal(counter.add(1), 5);
    await tab.close().catch(() => {});
    document.kill();
    const reloaded = await open({ window: origin.openTab().window });
    assert.equal(await reloaded.counter('c').read(), 4);
    assert.equal((await reloaded.queue('q').jobs()).length, 4);
    await reloaded.close();
    origin.close();
});

test('a read of a transaction that ended without a connection rejects', async () => {
    const { origin, tab: document, window, timed } = await page();
    Object.assign(window.document, { createElement: undefined }); // it can make no frame
    const tab = await open({ window });
    const advice = { code: 'store-failed', message: /reload the page/ };
    const run = tab.lock('l').run((held) =>
        held.commit('s', async (tx) => {
            await tx.get('s', 'k');
            origin.breakDatabase(document, 'dead-connection', { forGood: true });
            await sleep(window, 2_000);
            await assert.rejects(tx.get('s', 'k'), advice);
            await assert.rejects(tx.list('s'), advice);
        }),
    );
    const { code, ms } = await timed(Promise.race([run, sleep(window, 60_000)]));
    assert.deepEqual([code, ms <= 2_000 + slack_ms], ['store-failed', true], `${ms} ms`);
    await tab.close().catch(() => {});
    origin.close();
});
