/** The parts of counters over tabs that a thread and its page have, each with a stand-in for the other one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusError } from '../../js/common/errors.js';
import { CounterRequests } from '../../js/threads/tab-counter/counter-requests.js';
import { PageCounters } from '../../js/threads/tab-counter/page-counters.js';
import { requestFields, tabStates } from '../../js/threads/tab-lock/tab-request-layout.js';

/** A thread whose page answers the requests from the second one on. */
function requesting() {
    const words = new Int32Array(new SharedArrayBuffer(4_096));
    /** @type {number[]} */
    const asked = [];
    /** @type {number[]} */
    const closed = [];
    let made = 0;
    const core = {
        words,
        root: 0,
        ending: new AbortController().signal,
        assertOpen() {},
        openRequest: () => ++made * 512,
        ops: {
            request_ask(/** @type {number} */ _, /** @type {number} */ request, /** @type {number} */ how) {
                words[(request + requestFields.state) >> 2] = asked.length > 0 ? tabStates.granted : how;
                asked.push(request);
            },
            request_give_up: () => 1,
            request_release() {},
            request_close: (/** @type {number} */ _, /** @type {number} */ request) => closed.push(request),
        },
    };
    return { requests: new CounterRequests(/** @type {any} */ (core), 'n'), asked, closed };
}

test('a request that has timed out is given back, and is not used for a later flush', () => {
    const { requests, asked, closed } = requesting();
    assert.throws(() => requests.ask(tabStates.asked, 0), { name: 'TimeoutError' });
    assert.deepEqual(closed, [512]);
    for (let i = 0; i < 2; i++) requests.ask(tabStates.asked, Infinity);
    assert.deepEqual(asked, [512, 1_024, 1_024]);
    requests.close();
    assert.deepEqual(closed, [512, 1_024]);
});

test('an asynchronous request that was given up is not used for a later flush', async () => {
    for (const end of ['timeout', 'signal']) {
        const { requests, asked, closed } = requesting();
        const abort = new AbortController();
        const timeout_ms = end === 'timeout' ? 0 : Infinity;
        const given = requests.askAsync(tabStates.asked, timeout_ms, abort.signal);
        if (end === 'signal') abort.abort();
        await assert.rejects(given, { name: end === 'signal' ? 'AbortError' : 'TimeoutError' });
        assert.deepEqual(closed, [512]);
        await requests.askAsync(tabStates.asked, Infinity);
        assert.deepEqual(asked, [512, 1_024]);
    }
});

test('a page that could not load the code that gathers loads it again, unless the tab is closed', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    /** @type {('unavailable' | 'closed')[]} */
    const codes = ['unavailable', 'closed'];
    let loads = 0;
    const engine = {
        async load() {
            throw new TabacusError(codes[loads++] ?? 'closed', 'not loaded');
        },
    };
    const core = { closed: false, root: 0, ops: { cells_next: () => 128 } };
    const counters = new PageCounters(/** @type {any} */ (core), /** @type {any} */ ({ _engine: engine }));
    counters.gatherSoon();
    for (const expected of [1, 2, 2]) {
        await new Promise((resolve) => void setImmediate(resolve));
        assert.equal(loads, expected);
        t.mock.timers.tick(1_000);
    }
});
