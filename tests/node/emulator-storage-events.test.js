/**
 * The emulator's storage events against HTML §12.2 and DOM, and when a tab sees the writes of others.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

describe('storage events', () => {
    for (const model of /** @type {const} */ (['cached', 'interleaved', 'mutexed'])) {
        it(`§12.2.1 ${model}: every document but the writer's receives the events, in the order of the writes`, async () => {
            const origin = await createOrigin({ url: 'https://example.test/', storage: model });
            const [writer, ...others] = [
                origin.openTab({ url: 'writer' }),
                origin.openTab(),
                origin.openTab(),
            ];
            const frame = writer?.openFrame();
            /** @type {any[][]} */
            const received = [];
            const windows = [writer?.window, ...others.map((tab) => tab.window), frame?.window];
            for (const [at, window] of windows.entries()) {
                received[at] = [];
                window.addEventListener('storage', (/** @type {any} */ event) => {
                    assert.ok(event instanceof window.StorageEvent && event.target === window);
                    assert.equal(event.storageArea, window.localStorage);
                    assert.equal(event.url, 'https://example.test/writer');
                    assert.deepEqual([event.bubbles, event.cancelable], [false, false]);
                    received[at]?.push([event.key, event.oldValue, event.newValue]);
                });
            }
            const { localStorage } = writer?.window ?? {};
            localStorage.setItem('k', '1');
            localStorage.setItem('k', '1');
            localStorage.k = '2';
            localStorage.removeItem('none');
            delete localStorage.k;
            localStorage.setItem('\uD800', 'a value of more than sixteen units \uDC00');
            localStorage.clear();
            localStorage.clear();
            assert.deepEqual(received.flat(), [], 'no event is dispatched within the writer’s turn');
            await origin.settled();
            const expected = [
                ['k', null, '1'],
                ['k', '1', '2'],
                ['k', '2', null],
                ['\uD800', null, 'a value of more than sixteen units \uDC00'],
                [null, null, null],
            ];
            assert.deepEqual(received, [[], expected, expected, expected]);
            origin.close();
        });
    }

    it('a tab shares its sessionStorage with its frames, which receive events, and a tab that it opens starts with a copy (§12.2.2)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const frame = tab.openFrame();
        tab.window.sessionStorage.setItem('k', '1');
        await origin.settled();
        const [opened, stranger] = [origin.openTab({ opener: tab }), origin.openTab()];
        assert.deepEqual(
            [frame, opened, stranger].map(({ window }) => window.sessionStorage.getItem('k')),
            ['1', '1', null],
        );
        /** @type {string[]} */
        const received = [];
        for (const [name, { window }] of Object.entries({ tab, frame, opened, stranger })) {
            window.onstorage = (/** @type {any} */ event) =>
                received.push(`${name} ${event.key} ${event.storageArea === window.sessionStorage}`);
        }
        tab.window.sessionStorage.setItem('k', '2');
        await origin.settled();
        assert.deepEqual(received, ['frame k true']);
        assert.equal(opened.window.sessionStorage.getItem('k'), '1');
        origin.close();
    });

    it('a StorageEvent has the members of its dictionary, their defaults, and initStorageEvent() (§12.2.4)', async () => {
        const origin = await createOrigin();
        const { StorageEvent, localStorage } = origin.openTab().window;
        const plain = new StorageEvent('storage');
        assert.deepEqual(
            [plain.key, plain.oldValue, plain.newValue, plain.url, plain.storageArea, plain.bubbles],
            [null, null, null, '', null, false],
        );
        const full = new StorageEvent('t', {
            bubbles: true,
            key: 1,
            oldValue: undefined,
            newValue: 'n',
            url: 'u',
            storageArea: localStorage,
        });
        assert.deepEqual(
            [full.type, full.bubbles, full.key, full.oldValue, full.newValue, full.url],
            ['t', true, '1', null, 'n', 'u'],
        );
        assert.equal(full.storageArea, localStorage);
        assert.throws(() => new StorageEvent(), TypeError);
        assert.throws(() => new StorageEvent('t', { storageArea: {} }), TypeError);
        assert.throws(() => {
            full.key = 'other';
        }, TypeError);
        plain.initStorageEvent('type', true, true, 'key', 'old', 'new', 'url', localStorage);
        assert.deepEqual(
            [
                plain.type,
                plain.bubbles,
                plain.cancelable,
                plain.key,
                plain.oldValue,
                plain.newValue,
                plain.url,
            ],
            ['type', true, true, 'key', 'old', 'new', 'url'],
        );
        assert.ok(plain instanceof Event);
        origin.close();
    });

    it('StorageEvent reads its type, then the members of EventInit, then its own, each once (Web IDL §3.2.17)', async () => {
        const origin = await createOrigin();
        const { StorageEvent } = origin.openTab().window;
        /** @type {string[]} */
        const order = [];
        const init = new Proxy({}, { get: (_, key) => void order.push(String(key)) });
        new StorageEvent({ toString: () => (order.push('type'), 't') }, init);
        assert.deepEqual(order, [
            'type',
            'bubbles',
            'cancelable',
            'composed',
            'key',
            'newValue',
            'oldValue',
            'storageArea',
            'url',
        ]);
        const event = new StorageEvent(
            't',
            Object.assign(() => {}, { key: 'k', composed: 1, isTrusted: true }),
        );
        assert.deepEqual([event.key, event.composed, event.isTrusted], ['k', true, false]);
        assert.deepEqual(Object.getOwnPropertyNames(StorageEvent.prototype).sort(), [
            'constructor',
            'initStorageEvent',
            'key',
            'newValue',
            'oldValue',
            'storageArea',
            'url',
        ]);
        origin.close();
    });

    it('initStorageEvent() requires a StorageEvent, and its values are used when the event is dispatched (DOM §2.2)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const { prototype } = window.StorageEvent;
        let looked = 0;
        const type = { toString: () => `${++looked}` };
        for (const wrong of [{}, prototype, new window.Event('x')])
            assert.throws(() => prototype.initStorageEvent.call(wrong, type), TypeError);
        assert.equal(looked, 0);
        const event = new window.StorageEvent('x');
        event.initStorageEvent('y', false, true, 'k');
        window.addEventListener('y', (/** @type {any} */ event) => event.preventDefault());
        assert.deepEqual([window.dispatchEvent(event), event.defaultPrevented], [false, true]);
        event.initEvent('z', true, false);
        assert.deepEqual([event.type, event.bubbles, event.key], ['z', true, 'k']);
        origin.close();
    });

    it('a value of onstorage that is no object becomes null, and a handler that is replaced keeps its position', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        /** @type {string[]} */
        const order = [];
        assert.equal(b.window.onstorage, null);
        b.window.onstorage = 'no object';
        assert.equal(b.window.onstorage, null);
        b.window.onstorage = () => order.push('first');
        b.window.addEventListener('storage', () => order.push('listener'));
        b.window.onstorage = () => order.push('second');
        a.window.localStorage.setItem('k', 'v');
        await origin.settled();
        assert.deepEqual(order, ['second', 'listener']);
        origin.close();
    });
});

describe('when a tab sees the writes of others', () => {
    it('under `cached` a process reads its copy until a write reaches it, and frames and opened tabs share the process', async () => {
        const origin = await createOrigin({ storage: 'cached' });
        const [a, b] = [origin.openTab(), origin.openTab()];
        const near = [a.openFrame(), origin.openTab({ opener: a })];
        a.window.localStorage.setItem('k', 'v');
        assert.deepEqual(
            [a, ...near, b].map(({ window }) => window.localStorage.getItem('k')),
            ['v', 'v', 'v', null],
        );
        await origin.settled();
        assert.equal(b.window.localStorage.getItem('k'), 'v');
        origin.close();
    });

    it('under `interleaved` and `mutexed` a tab sees a write at once', async () => {
        for (const storage of /** @type {const} */ (['interleaved', 'mutexed'])) {
            const origin = await createOrigin({ storage });
            const [a, b] = [origin.openTab(), origin.openTab()];
            a.window.localStorage.setItem('k', 'v');
            assert.equal(b.window.localStorage.getItem('k'), 'v');
            origin.close();
        }
    });

    it('a Web Lock around a cached localStorage loses updates under some seed, and none where storage is shared', async () => {
        /** @param {'cached' | 'interleaved'} storage @param {number} seed */
        const lost = async (storage, seed) => {
            const origin = await createOrigin({ storage, seed });
            const tabs = [origin.openTab(), origin.openTab()];
            await Promise.all(
                tabs.map(async ({ window: { navigator, localStorage } }) => {
                    for (let at = 0; at < 5; ++at) {
                        await navigator.locks.request('count', () =>
                            localStorage.setItem('n', String(Number(localStorage.getItem('n')) + 1)),
                        );
                    }
                }),
            );
            await origin.settled();
            const { localStorage } = origin.openTab().window;
            const missing = 10 - Number(localStorage.getItem('n'));
            origin.close();
            return missing;
        };
        const seeds = Array.from({ length: 20 }, (_, seed) => seed);
        const cached = await Promise.all(seeds.map((seed) => lost('cached', seed)));
        const shared = await Promise.all(seeds.map((seed) => lost('interleaved', seed)));
        assert.ok(
            cached.some((missing) => missing > 0),
            `${cached}`,
        );
        assert.deepEqual(
            shared,
            seeds.map(() => 0),
        );
    });

    it('all tabs agree in the end on data that is cleared or corrupted while writes are on their way', async () => {
        for (const act of /** @type {const} */ (['clearSiteData', 'corrupt'])) {
            const origin = await createOrigin();
            const [a, b] = [origin.openTab().window, origin.openTab().window];
            a.localStorage.setItem('k', '1');
            b.localStorage.setItem('k', '2');
            if (act === 'corrupt') origin.corrupt('k');
            else origin.clearSiteData();
            await origin.settled();
            const { localStorage } = origin.openTab().window;
            assert.deepEqual(
                [a.localStorage.getItem('k'), b.localStorage.getItem('k')],
                [localStorage.getItem('k'), localStorage.getItem('k')],
            );
            assert.equal(['1', '2'].includes(localStorage.getItem('k')), false);
            origin.close();
        }
    });
});
