/** The `capabilities` of a tab whose store the browser may delete, and of one whose store it keeps. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';
import { details, sleep, until } from './page-waits.js';

test('open({ persist: true }) asks the browser to keep the data, and capabilities have its answer', async () => {
    const origin = await createOrigin({ persistence: 'granted' });
    const { window } = origin.openTab();
    window.localStorage.setItem('key', 'value');
    const silent = await open({ window });
    assert.deepEqual([silent.capabilities.persisted, silent.capabilities.estimate], [undefined, undefined]);
    assert.equal(await window.navigator.storage.persisted(), false, 'open() has not asked');
    const tab = await open({ window, persist: true });
    const [changes, warnings] = [details(tab, 'capabilitieschange'), details(tab, 'warning')];
    await until(window, () => changes.length > 0);
    assert.equal(await window.navigator.storage.persisted(), true);
    assert.equal(tab.capabilities.persisted, true);
    const { usage = 0, quota = 0 } = tab.capabilities.estimate ?? {};
    assert.ok(usage >= 16 && quota > usage, `${usage} of ${quota}`);
    assert.equal(silent.capabilities.persisted, true, 'it is the same origin');
    assert.deepEqual(warnings, []);
    await Promise.all([tab.close(), silent.close()]);
    origin.close();
});

test('a browser that refuses to keep the data is a warning, and one that cannot be asked is none', async () => {
    const origin = await createOrigin();
    const { window } = origin.openTab();
    const tab = await open({ window, persist: true });
    const warnings = details(tab, 'warning');
    await until(window, () => warnings.length > 0);
    assert.deepEqual([warnings[0].code, tab.capabilities.persisted], ['not-persisted', false]);
    await tab.close();
    origin.close();
    const insecure = await createOrigin({ url: 'http://a.test/', persistence: 'granted' });
    const page = insecure.openTab();
    const other = await open({ window: page.window, persist: true });
    const none = details(other, 'warning');
    await sleep(page.window, 1_000);
    assert.deepEqual([none, other.capabilities.persisted], [[], undefined]);
    await other.close();
    insecure.close();
    await assert.rejects(open({ persist: /** @type {any} */ ('yes') }), { code: 'invalid-argument' });
});

test('a database that fails to open late is not in capabilities, until it works again', async () => {
    const origin = await createOrigin();
    const page = origin.openTab();
    const { window } = page;
    const answer = origin.breakDatabase(page, 'hang-open');
    const tab = await open({ window });
    const changes = details(tab, 'capabilitieschange');
    assert.deepEqual([tab.capabilities.opening, tab.capabilities.store], [true, 'indexeddb']);
    origin.breakDatabase(page, 'dead-connection', { forGood: true });
    answer();
    await origin.settled();
    const { opening, store, durability, mirror } = tab.capabilities;
    assert.deepEqual([opening, store, durability, mirror], [false, 'memory', 'memory', false]);
    assert.equal(changes.at(-1).store, 'memory');
    assert.equal(tab.counter('c').add(2), 2);
    await tab.close().catch(() => {});
    origin.close();
});

test('a database that dies for good is not in capabilities, and one that works again is', async () => {
    const origin = await createOrigin();
    const page = origin.openTab();
    const { window } = page;
    const tab = await open({ window });
    const counter = tab.counter('c');
    counter.add(1);
    await counter.flush();
    const changes = details(tab, 'capabilitieschange');
    const answer = origin.breakDatabase(page, 'hang-transaction');
    counter.add(1);
    await assert.rejects(counter.flush(), { code: 'store-failed' });
    assert.equal(tab.capabilities.store, 'memory');
    answer();
    await sleep(window, 5_000);
    await counter.flush();
    assert.deepEqual([tab.capabilities.store, tab.capabilities.mirror], ['indexeddb', true]);
    assert.deepEqual(
        changes.map(({ store }) => store),
        ['memory', 'indexeddb'],
    );
    await tab.close();
    origin.close();
});

test('an origin whose database was evicted while localStorage was kept is reported at the start', async () => {
    const origin = await createOrigin();
    const first = await open({ window: origin.openTab().window });
    first.counter('c').add(3);
    await first.close();
    origin.loseDatabase();
    const { window } = origin.openTab();
    const tab = await open({ window });
    const lost = details(tab, 'storelost');
    await tab.counter('c').read();
    await tab.counter('c').flush();
    await until(window, () => lost.length > 0);
    assert.equal(lost.length, 1);
    await tab.close();
    origin.close();
});
