/** Handles that an application drops without closing them, as a component does that is mounted and unmounted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';
import { kept } from './garbage.js';

test('a thousand handles that are used and dropped are collected, and leave no listeners of the window', async () => {
    const origin = await createOrigin();
    const { window } = origin.openTab();
    let listeners = 0;
    const { addEventListener } = window;
    window.addEventListener = function (/** @type {any[]} */ ...given) {
        listeners++;
        return Reflect.apply(addEventListener, this, given);
    };
    const main = await open({ window });
    main.counter('visits').add(1);
    await main.lock('l').run(() => {});
    await main.counter('orders', { strategy: 'transactional' }).add(1);
    const before = listeners;
    /** @type {WeakRef<object>[]} */
    const refs = [];
    await (async () => {
        for (let at = 0; at < 1_000; ++at) {
            const tab = await open({ window });
            const visits = tab.counter('visits');
            const stop = visits.subscribe(() => {});
            visits.add(1);
            stop();
            if (at % 10 === 0) {
                await tab.lock('l').run(() => {});
                await tab.counter('orders', { strategy: 'transactional' }).add(1);
            }
            refs.push(new WeakRef(tab), new WeakRef(visits));
        }
    })();
    await origin.settled();
    assert.ok((await kept(refs)) <= 4, 'at most the last ones are alive, in frames of this test');
    assert.equal(listeners, before);
    assert.equal(main.counter('visits').value, 1_001);
    assert.equal(await main.counter('orders', { strategy: 'transactional' }).read(), 101);
    await main.close();
    origin.close();
});

test('a dropped handle goes on while the application listens through it, or holds a lock of it', async () => {
    const origin = await createOrigin();
    const { window } = origin.openTab();
    const main = await open({ window });
    /** @type {number[]} */
    const seen = [];
    /** @type {string[]} */
    const warnings = [];
    let lost = '';
    /** @type {WeakRef<object>[]} */
    const refs = [];
    await (async () => {
        const [subscribing, listening, holding] = [
            await open({ window }),
            await open({ window }),
            await open({ window }),
        ];
        subscribing.counter('visits').subscribe((value) => seen.push(value));
        listening.addEventListener('storelost', ({ detail }) => warnings.push(detail.reason));
        void holding
            .lock('l')
            .run(() => new Promise(() => {}))
            .catch(({ code }) => (lost = code));
        await origin.settled();
        refs.push(new WeakRef(subscribing), new WeakRef(listening), new WeakRef(holding));
    })();
    assert.equal(await kept(refs), 3);
    main.counter('visits').add(5);
    await main.counter('visits').flush();
    assert.equal(seen.at(-1), 5);
    origin.clearSiteData();
    main.counter('visits').add(1);
    await main.counter('visits').flush();
    await main.lock('l').run(() => {}, { steal: true });
    await origin.settled();
    assert.ok(warnings.length > 0);
    assert.equal(lost, 'lock-lost');
    origin.close();
});

test('a closed handle with subscribers and listeners is collected while another handle is open', async () => {
    const origin = await createOrigin();
    const { window } = origin.openTab();
    const main = await open({ window });
    /** @type {WeakRef<object>[]} */
    const refs = [];
    await (async () => {
        const tab = await open({ window });
        tab.counter('visits').subscribe(() => {});
        tab.addEventListener('warning', () => {});
        refs.push(new WeakRef(tab), new WeakRef(tab.counter('visits')));
        await tab.close();
    })();
    assert.equal(await kept(refs), 0);
    await main.close();
    origin.close();
});
