/** Every tab that used a database is notified once when it vanishes, whatever the tab stored there. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { details, settled } from './page-waits.js';
import { testOrigin } from './test-origin.js';

/** @typedef {import('tabacus').Tab} Tab */

/** @type {Record<string, (tab: Tab) => Promise<unknown>>} */
const uses = {
    'a transactional counter': (tab) => tab.counter('c', { strategy: 'transactional' }).add(1),
    'a counter of deltas': (tab) => tab.counter('d', { strategy: 'deltas' }).add(1),
    "a lock's stores": (tab) =>
        tab.lock('l').run((held) => held.commit(['s'], (tx) => tx.put('s', 'key', 1))),
    once: (tab) => tab.once('o', () => 1),
    'a queue': (tab) => tab.queue('q').enqueue(1, { key: 'one' }),
    'a sequence': (tab) => tab.sequence('n').next(),
};

for (const [what, use] of Object.entries(uses)) {
    test(`every tab with ${what} is notified of a database that vanished`, async () => {
        const origin = await testOrigin({ storage: 'interleaved' });
        const tabs = await Promise.all([0, 1, 2].map(() => open({ window: origin.window() })));
        const reported = tabs.map((tab) => details(tab, 'storelost'));
        for (const tab of tabs) await use(tab);
        await origin.until(() => origin.localStorage.getItem('tabacus/default/database-generation') !== null);
        // The database is deleted as by clearing the data of a site, and no tab makes a call afterwards.
        origin.localStorage.clear();
        await settled(origin.indexedDB.deleteDatabase('tabacus/default'));
        await origin.until(() => reported.every((losses) => losses.length > 0));
        await Promise.all(tabs.map((tab) => tab.close()));
        for (const events of reported) {
            // A sequence also reports what it assumes, without a generation.
            const losses = events.filter(({ generation }) => generation);
            const generations = losses.map(({ generation }) => generation);
            assert.equal(new Set(generations).size, generations.length, 'one loss is reported once');
            assert.ok(losses.every(({ previous }) => previous));
        }
    });
}
