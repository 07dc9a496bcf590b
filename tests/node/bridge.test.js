/** The bridge between C++ and JavaScript: which values pass through it unchanged, and how its calls are written. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ESLint } from 'eslint';
import { bindings } from '../../bridge/exports.js';
import { callbacks, coordinationCallbacks, gatherCallbacks, hostCalls } from '../../bridge/host.js';
import { Bridge } from '../../js/core/bridge.js';
import { PageCells } from '../../js/threads/tab-counter/page-cells.js';
import { LockSnapshots } from '../../js/host/lock-snapshots.js';
import { ValueChannels } from '../../js/host/value-channels.js';
import { ready } from '../../js/core/load-coordination.js';
import { CoordinationListeners } from '../../js/core/coordination-listeners.js';
import { queueEnqueue, queueList, queueOpen } from '../../js/core/generated/queues.js';
import { Promises } from '../../js/core/promises.js';
import { TransactionHost } from '../../js/host/transaction.js';
import { Host } from '../../js/host/host.js';
import { calledFunction, hostMethod } from '../../scripts/lib/bridge-types.js';
import { repository } from '../../scripts/lib/paths.js';
import { slotsOf } from '../../scripts/lib/bridge-cpp.js';
import { sources } from '../../scripts/lib/sources.js';
import { testOrigin } from './test-origin.js';
import { startBridge } from './program.js';

/** Whether the linter refuses this line in a file of js/lock. @param {string} line */
async function isRefused(line) {
    const eslint = new ESLint({ cwd: repository });
    const [result] = await eslint.lintText(`${line}\n`, { filePath: `${repository}/js/lock/lock.js` });
    return new Set(result?.messages.map(({ ruleId }) => ruleId)).has('no-restricted-syntax');
}

test('the linter refuses a call across the bridge that is selected by a string or a position', async () => {
    for (const line of [
        "export const f = (bridge, what) => bridge.glue['lock_' + what](bridge.core);",
        "export const f = (glue) => glue['lock_abort'](1);",
        'export const f = (host, part) => host[part].get(1);',
        'export const f = (calls, what) => calls[what](1);',
        'export const f = (bridge, name) => { const call = bridge.glue[name]; call(1); };',
    ]) {
        assert.ok(await isRefused(line), line);
    }
    assert.ok(!(await isRefused('export const f = (bridge) => bridge.glue.lock_abort(bridge.core, 1);')));
});

test('a text crosses the bridge as it is, with U+0000 and beyond ASCII, in both directions', async (t) => {
    const origin = await testOrigin();
    const window = origin.window();
    const host = new Host(/** @type {any} */ (window), 'texts');
    t.after(() => host.dispose()); // a failed test, too, would not end without it
    await ready(host);
    const bridge = await startBridge(host, ['locks', 'queue']);
    const queue = queueOpen(bridge, 'q', {
        ...{ concurrency: 1, lifo: false, attempts: 1, backOff_ms: 0, pauseOnFailure: false, limit: 0 },
        durability: 'relaxed',
    });
    const texts = ['', '\0', 'a\0b', 'é😀'.repeat(200), '\uFEFF', '\uFEFFa'];
    for (const text of texts) {
        const { id } = await queueEnqueue(bridge, queue, {
            ...{ payload: { text, byValue: false }, key: text, kind: '', priority: -3 },
            ...{ optional: true, atMostOnce: false, delay_ms: 0 },
        });
        assert.ok(id);
    }
    const jobs = await queueList(bridge, queue, 'jobs', { after: '', limit: 0 });
    assert.deepEqual(jobs.map(({ payload }) => payload.text).sort(), [...texts].sort());
    assert.deepEqual(jobs.map(({ key }) => key).sort(), [...texts].sort());
    for (const { priority, optional, atMostOnce, state } of jobs)
        assert.deepEqual([priority, optional, atMostOnce, state], [-3, true, false, 'queued']);
});

test('the comment of each generated call names a function that exists on the other side of the bridge', async (t) => {
    const host = new Host(/** @type {any} */ ((await testOrigin()).window()), 'names');
    t.after(() => host.dispose());
    /** @type {Record<string, object>} */
    const objects = {
        ...Object.fromEntries(Object.entries(host).map(([name, part]) => [`host.${name}`, part])),
        'host.database.transaction(transaction)?': TransactionHost.prototype,
        bridge: Bridge.prototype,
        'bridge.promises': new Promises(),
        'bridge.listeners': new CoordinationListeners(),
        'bridge.lockSnapshots': new LockSnapshots(host),
        cells: PageCells.prototype,
        'bridge.valueChannels': new ValueChannels(host),
    };
    for (const call of [...hostCalls, ...callbacks, ...coordinationCallbacks, ...gatherCallbacks]) {
        assert.ok(hostMethod(call) in Object(objects[call.on]), `${call.on} of ${call.name}`);
        const source = readFileSync(`${repository}/${call.file}`, 'utf8');
        assert.match(source, new RegExp(`\\bclass ${call.type}\\b`), call.name);
    }
    const headers = sources('wasm/src/browser/core/*.hpp', 'wasm/include/tabacus/limit/*.hpp').map((file) =>
        readFileSync(`${repository}/${file}`, 'utf8'),
    );
    for (const calls of Object.values(bindings)) {
        for (const call of calls) {
            const [type = '', method] = calledFunction(call).split('::');
            if (call.byHand || method === undefined) continue;
            const [, body = ''] =
                headers
                    .map((text) => new RegExp(`\\bclass ${type}\\b[^;]*?\\{([^]*?)\\n\\};`).exec(text))
                    .find(Boolean) ?? [];
            assert.match(body, new RegExp(`\\b${method}\\(`), `${type}::${method} of ${call.name}`);
        }
    }
});

test('writing the bridge fails for a call with more parameters than can cross at once', () => {
    const call = {
        name: 'too_many',
        doc: '',
        on: 'host',
        type: 'Host',
        file: '',
        params: { a: 'text', b: 'text', c: 'text' },
    };
    assert.throws(() => slotsOf(call), /too_many has more parameters/);
});

test('names of locks are forgotten while few locks are held and few calls wait, and too many in use are refused', () => {
    const listeners = new CoordinationListeners();
    const { admit } = Bridge.prototype;
    for (let at = 0; at < 300_000; at++) admit(`name ${at}`, listeners.lockNames(1));
    assert.ok(listeners.lockNames(1).size <= 1_024);
    const refused = (/** @type {(at: number) => number} */ calls) => {
        for (let at = 0; at < 300_000; at++) admit(`in use ${at}`, listeners.lockNames(calls(at)));
    };
    assert.throws(() => refused((at) => at), { code: 'out-of-memory' });
    assert.doesNotThrow(() => refused((at) => Math.min(at, 2 ** 16)));
});
