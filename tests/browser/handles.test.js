/**
 * Pages that open a namespace again and again: handles that they close or only drop cost no memory, and no file is
 * fetched twice.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/** More than the memories that an engine lets a page have at a time: Chromium has addresses for some 125. */
const TIMES = 150;

/**
 * Opens a namespace `times` times, and uses a counter each time, and a lock now and then. Runs in a page.
 *
 * @param {string} namespace @param {number} times @param {boolean} closes whether each handle is closed, or dropped
 */
async function openAgain(namespace, times, closes) {
    const tabacus = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
    let memories = 0;
    /** The most bytes that the memory of a program began with. */
    let most_bytes = 0;
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = /** @type {any} */ (
        async (/** @type {any} */ source, /** @type {any} */ imports) => {
            const made = /** @type {any} */ (
                await Reflect.apply(instantiate, WebAssembly, [source, imports])
            );
            const { memory } = (made.instance ?? made).exports;
            if (memory) memories++;
            most_bytes = Math.max(most_bytes, memory?.buffer.byteLength ?? 0);
            return made;
        }
    );
    let listeners = 0;
    for (const target of [window, document]) {
        const { addEventListener, removeEventListener } = target;
        target.addEventListener = (/** @type {any[]} */ ...given) => {
            listeners++;
            Reflect.apply(addEventListener, target, given);
        };
        target.removeEventListener = (/** @type {any[]} */ ...given) => {
            listeners--;
            Reflect.apply(removeEventListener, target, given);
        };
    }
    /** @type {number[]} */
    const listening = [];
    for (let at = 0; at < times; at++) {
        const tab = await tabacus.open({ namespace });
        const counter = tab.counter('visits');
        const stop = counter.subscribe(() => {});
        counter.add(1);
        stop();
        if (at % 10 === 0) await tab.lock('l').run(() => {});
        if (closes) await tab.close();
        listening.push(listeners);
    }
    const files = performance
        .getEntriesByType('resource')
        .map(({ name }) => name.replace(/^.*\//, ''))
        .filter((name) => name.endsWith('.wasm'))
        .sort();
    const last = await tabacus.open({ namespace });
    const visits = await last.counter('visits').read();
    await last.close();
    const { held = [] } = await navigator.locks.query();
    const kept = held.filter(({ name }) => name?.includes(`/${namespace}/`)).length;
    WebAssembly.instantiate = instantiate;
    return {
        memories,
        most_bytes,
        listening: [Number(listening[0]), Math.max(...listening)],
        visits,
        kept,
        files,
    };
}

describeIn(Object.values(ENGINES), 'Handles of a page', (engine) => {
    const browser = useBrowser(engine);

    it(`a page opens and closes a namespace ${TIMES} times`, async () => {
        const page = await browser.openTab();
        const found = await page.evaluate(openAgain, browser.namespace(), TIMES, true);
        assert.equal(found.visits, TIMES);
        assert.equal(found.memories, TIMES + 1);
        assert.ok(found.most_bytes <= 2 ** 21, `${found.most_bytes} bytes`);
        assert.deepEqual([found.listening[0], found.kept], [found.listening[1], 0]);
        assert.deepEqual(found.files, ['counters.wasm', 'locks.wasm']);
        await closeAll([page]);
    });

    it(`a page opens a namespace ${TIMES} times without close(): one program runs`, async () => {
        const page = await browser.openTab();
        const found = await page.evaluate(openAgain, browser.namespace(), TIMES, false);
        assert.equal(found.visits, TIMES);
        assert.equal(found.memories, 1);
        assert.equal(found.listening[0], found.listening[1]);
        await closeAll([page]);
    });
});
