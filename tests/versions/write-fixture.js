/**
 * node tests/versions/write-fixture.js tests/versions/tabacus-0.1.0.tgz: uses every feature of that version in an
 * emulated browser, and writes the stored data into data-0.1.0.json beside the tarball.
 *
 * Four tabs share the work. One is killed early, and the others fold the records that it logged. One is closed. The
 * last two are killed, one of them while it holds a lock and runs a job. `written` in the file has the results of the
 * version itself, with which the test compares.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { names, queueOptions, start_ms, strategies } from './fixture-names.js';
import { loadPackedVersion } from './packed-version.js';
import { decode, encode, readSiteData } from './site-data.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {[Tab, Tab, Tab]} Tabs */
/** @typedef {import('tabacus/emulator').Origin} Origin */

/** Strategies that fold several records into one. */
const folding = /** @type {const} */ (['log', 'deltas']);

const never = () => new Promise(() => {});

/** @param {Tabs} tabs @param {Origin} origin */
async function writeCounters([a, b, c], origin) {
    const relaxed = [a, b, c].map((tab) => tab.counter(names.visits));
    [1, 20, 300].forEach((amount, at) => relaxed[at]?.add(amount));
    relaxed[2]?.add(-4000);
    await Promise.all(relaxed.map((counter) => counter.flush()));
    const strict = [a, b].map((tab) => tab.counter(names.stock, { durability: 'strict' }));
    strict[0]?.add(Number.MAX_SAFE_INTEGER);
    await strict[0]?.flush();
    strict[1]?.add(-7);
    await strict[1]?.flush();
    for (const strategy of strategies) {
        // The tabs count one after another, so that strategies that lose concurrent updates are exact, too.
        for (const [at, tab] of [a, b, c].entries()) {
            const counter = tab.counter(names.catalogue, { strategy });
            await counter.add(10 ** at);
            await counter.flush();
            await origin.settled();
        }
        // A read of `deltas` may be a second old, and a fresh one would fold the deltas, which must stay in
        // the fixture.
        if (strategy === 'deltas') continue;
        assert.equal(await a.counter(names.catalogue, { strategy }).read(), 111, strategy);
    }
    const [visits, stock] = [await a.counter(names.visits).read(), await b.counter(names.stock).read()];
    assert.deepEqual([visits, stock], [46_321, Number.MAX_SAFE_INTEGER - 7]);
    return { visits, stock, catalogue: 111, folded: { log: 57, deltas: 86 } };
}

/** Writes a row, and entries that other tabs fold, in a tab that is then killed. @param {Origin} origin */
async function writeEarly(origin) {
    const page = origin.openTab();
    const tab = await open({ namespace: names.namespace, window: page.window });
    tab.counter(names.visits).add(50_000);
    await tab.counter(names.visits).flush();
    for (const strategy of folding) {
        await tab.counter(names.folded, { strategy }).add(50);
        await tab.counter(names.folded, { strategy }).flush();
    }
    await origin.settled();
    page.kill();
}

/** @param {Tabs} tabs @param {Origin} origin */
async function foldCounters([a, b], origin) {
    const log = a.counter(names.folded, { strategy: 'log', foldAfter: 100 });
    await log.add(3);
    await log.flush();
    await new Promise((resolve) => origin.tabs[0]?.window.setTimeout(resolve, 1000));
    const deltas = a.counter(names.folded, { strategy: 'deltas', threshold: 0 });
    for (let at = 0; at < 32; ++at) await deltas.add(1); // the strategy folds no fewer rows than these
    assert.deepEqual([await log.read(), await deltas.read()], [53, 82]);
    for (const strategy of folding) {
        await b.counter(names.folded, { strategy }).add(4);
        await b.counter(names.folded, { strategy }).flush();
    }
    await origin.settled();
}

/** @param {Tabs} tabs */
async function writeLocks(tabs) {
    let token = 0;
    for (const [at, tab] of tabs.entries()) {
        await tab.lock(names.cart).run(async (held) => {
            token = Number(held.token);
            await held.commit(names.carts, async (tx) => {
                const before = (await tx.get(names.carts, names.mine)) ?? [];
                tx.put(names.carts, names.mine, [...before, `Stück ${at}`]);
            });
        });
    }
    const [a, b, c] = tabs;
    const shapes = {
        map: new Map([['größe', 42n]]),
        day: new Date(start_ms),
        bytes: new Uint8Array([1, 2, 255]),
    };
    await a.lock(names.cart).run(async (held) => {
        token = Number(held.token);
        await held.commit(names.carts, (tx) => tx.put(names.carts, names.shapes, shapes));
    });
    await b.lock(names.heldAtDeath).run(() => {});
    const held = await c.lock(names.heldAtDeath).acquire({ label: 'the tab that is killed' });
    await held.commit(names.carts, (tx) =>
        tx.put(names.carts, names.atDeath, 'committed before the tab died'),
    );
    await a.semaphore(names.semaphore, 2).run(() => b.semaphore(names.semaphore, 2).run(() => {}));
    const semaphoreTokens = await a
        .semaphore(names.semaphore, 2)
        .run((first) => b.semaphore(names.semaphore, 2).run((second) => [first.token, second.token]));
    await c.semaphore(names.semaphore, 2).acquire();
    return { cartToken: token, heldAtDeathToken: held.token, semaphoreTokens };
}

/** @param {Tabs} tabs */
async function writeAnswers([a, b, c]) {
    const once = await a.once(names.once, async () => ({ jeton: 'é', until: new Date(start_ms) }), {
        ttl: Infinity,
    });
    let end = () => {};
    /** @type {Promise<void>} */
    const ended = new Promise((resolve) => (end = resolve));
    const led = a.leader(names.leader).run(async (term) => {
        const answering = term.answer((request, call) => {
            call.write(names.receipts, (tx) => tx.put(names.receipts, request.order, { by: call.id }));
            return { paid: request.order, term: call.term };
        });
        await ended;
        term.handOver();
        await answering;
        return term.number;
    });
    const answer = await b.leader(names.leader).call({ order: names.answered }, { key: names.answered });
    end();
    const term = await led;
    // The leader has handed over, so this call stays open when its tab is killed.
    c.leader(names.leader)
        .call({ order: names.open }, { key: names.open })
        .catch(() => {});
    return { once: encode(once), answer, term };
}

/** @param {Tabs} tabs */
async function writeLimits([a, b, c]) {
    const numbers = [];
    for (const tab of [a, b, a, c]) {
        numbers.push(await tab.sequence(names.sequence, { block: 10 }).next());
        numbers.push(await tab.sequence(names.gapless, { gapless: true }).next());
    }
    const budget = (/** @type {Tab} */ tab) => tab.budget(names.budget, { limit: 100 });
    for (const [tab, n] of /** @type {[Tab, number][]} */ ([
        [a, 30],
        [b, 20],
        [c, 10],
    ]))
        assert.equal(await budget(tab).tryTake(n), true);
    await budget(b).give(5);
    const rate = (/** @type {Tab} */ tab) =>
        tab.rateLimit(names.rate, { limit: 3, interval: 3_600_000 }).tryTake();
    const turns = [await rate(a), await rate(b), await rate(c), await rate(a)];
    assert.deepEqual(turns, [true, true, true, false]);
    return {
        numbers: numbers.filter((_, at) => at % 2 === 0),
        gapless: numbers.filter((_, at) => at % 2 === 1),
        taken: 55,
    };
}

/** @param {Tabs} tabs @param {Origin} origin */
async function writeJobs([a, b, c], origin) {
    const queue = (/** @type {Tab} */ tab, /** @type {keyof typeof queueOptions} */ name) =>
        tab.queue(names[name], queueOptions[name]);
    // The fixture has a dead letter, a job that is done, and its result for a tab that does not come back.
    const stop = queue(a, 'work').handle(({ payload }) => {
        if (payload === 'fails') throw new RangeError('zu groß');
        return { done: payload };
    });
    const done = await queue(b, 'work').enqueue('succeeds');
    assert.deepEqual(await done.result, { done: 'succeeds' });
    const fails = await queue(b, 'work').enqueue('fails', { key: names.deadKey });
    await assert.rejects(fails.result, RangeError);
    stop();
    await origin.settled();
    // The following jobs wait. Jobs that are enqueued in one turn with equal options share a row.
    await Promise.all([1, 2, 3].map((n) => queue(a, 'work').enqueue(`Bündel ${n}`)));
    await queue(b, 'work').enqueue({ page: 1 }, { key: 'Schlüssel/1', priority: 5 });
    await queue(b, 'work').enqueue({ page: 2 }, { key: 'Schlüssel/1', priority: 5 }); // replaces the first
    await queue(b, 'work').enqueue(new Map([['seite', 3n]]), { kind: 'Art' });
    await queue(c, 'work').enqueue('at most once', { delivery: 'at-most-once' });
    await queue(c, 'work').enqueue('optional', { optional: true });
    await queue(c, 'work').enqueue('delayed', { delay: 600_000 });
    await queue(a, 'paused').enqueue('waits for resume()');
    await queue(b, 'paused').pause();
    /** @type {Promise<void>} */
    const running = new Promise((resolve) => {
        queue(c, 'lost').handle(() => (resolve(), never()));
    });
    await queue(a, 'lost').enqueue('runs when its tab is killed');
    await running;
}

const tarball = pathToFileURL(process.argv[2] ?? '');
const { version, open, createOrigin } = await loadPackedVersion(tarball);

/** @param {Origin} origin */
async function write(origin) {
    origin.setClock(start_ms);
    await writeEarly(origin);
    const pages = [origin.openTab(), origin.openTab(), origin.openTab()];
    const opened = await Promise.all(pages.map(({ window }) => open({ namespace: names.namespace, window })));
    const tabs = /** @type {Tabs} */ (opened);
    await foldCounters(tabs, origin);
    for (const tab of tabs) tab.addEventListener('warning', ({ detail }) => assert.fail(detail.message));
    const written = {
        ...(await writeCounters(tabs, origin)),
        ...(await writeLocks(tabs)),
        ...(await writeAnswers(tabs)),
        ...(await writeLimits(tabs)),
    };
    await writeJobs(tabs, origin);
    await origin.settled();
    await tabs[0].close();
    await pages[0]?.close();
    for (const page of pages) page.kill();
    const reader = origin.openTab();
    await origin.settled();
    const data = await readSiteData(reader.window);
    for (const { stores } of data.databases)
        for (const { rows } of stores)
            for (const [, value] of rows) assert.deepEqual(encode(decode(value)), value);
    return { version, clock_ms: reader.window.Date.now(), written, ...data };
}

// The first use of a feature loads files from the disk, and virtual time passes meanwhile. So the first run only loads
// them, and the second one writes the fixture.
for (const last of [false, true]) {
    const origin = await createOrigin({ seed: 1 });
    const data = await write(origin);
    origin.close();
    if (!last) continue;
    const file = new URL(`data-${version}.json`, tarball);
    const style = await resolveConfig(file);
    writeFileSync(file, await format(JSON.stringify(data), { ...style, parser: 'json' }));
}
