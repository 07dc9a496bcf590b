/** The emulator's channels, clock, scripts, lifecycle and databases. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

const isDom = (/** @type {string} */ name) => (/** @type {any} */ error) =>
    error instanceof DOMException && error.name === name;

describe('BroadcastChannel (HTML §9.5)', () => {
    it('a message is cloned and reaches every other object of the name, in order, but not the sender', async () => {
        const origin = await createOrigin({ url: 'https://example.test/' });
        const [a, b] = [origin.openTab(), origin.openTab()];
        const worker = a.openWorker();
        const receivers = [a.window, a.window, b.window, worker.scope, a.openFrame().window].map(
            (scope) => new scope.BroadcastChannel('news'),
        );
        const stranger = new b.window.BroadcastChannel('other');
        stranger.onmessage = () => assert.fail('the channel has another name');
        /** @type {any[][]} */
        const received = receivers.map(() => []);
        receivers.forEach((channel, at) =>
            channel.addEventListener('message', (/** @type {any} */ event) => {
                assert.deepEqual(
                    [event.origin, event.target, event.ports.length],
                    ['https://example.test', channel, 0],
                );
                received[at]?.push(event.data);
            }),
        );
        const message = { at: new Date(1), map: new Map([[1, 2]]), text: '\uD800' };
        receivers[0].postMessage(message);
        message.text = 'changed after it was posted';
        receivers[0].postMessage(2);
        assert.deepEqual(received.flat(), []);
        await origin.settled();
        assert.deepEqual(received[0], []);
        for (const one of received.slice(1))
            assert.deepEqual(one, [{ at: new Date(1), map: new Map([[1, 2]]), text: '\uD800' }, 2]);
        assert.notEqual(received[1]?.[0], received[2]?.[0]);
        origin.close();
    });

    it('shared memory cannot be posted, because no emulated tab is cross-origin isolated (HTML §2.7.3)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const channel = new window.BroadcastChannel('n');
        const memory = new SharedArrayBuffer(4);
        for (const one of [memory, new Int32Array(memory), { in: [memory] }]) {
            assert.throws(() => channel.postMessage(one), isDom('DataCloneError'));
            assert.throws(() => window.structuredClone(one), isDom('DataCloneError'));
        }
        origin.close();
    });

    it('an exception is cloned with its name and message, wherever it is in the value (Web IDL §2.8.2)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const { QuotaExceededError, MessageChannel } = window;
        const aborted = new DOMException('m', 'AbortError');
        const message = () => ({
            aborted,
            in: [new Map([[1, new QuotaExceededError('full', { quota: 5, requested: 7 })]]), aborted],
        });
        /** @type {any[]} */
        const received = [];
        const receive = (/** @type {any} */ { data }) => received.push(data);
        const { port1, port2 } = new MessageChannel();
        for (const receiver of [new (origin.openTab().window.BroadcastChannel)('n'), window, port2])
            receiver.onmessage = receive;
        new window.BroadcastChannel('n').postMessage(message());
        window.postMessage(message());
        const { port1: port } = new MessageChannel();
        port1.postMessage({ ...message(), port }, [port]);
        await origin.settled();
        received.push(window.structuredClone(message()));
        assert.equal(received.length, 4);
        for (const {
            aborted: one,
            in: [map, same],
        } of received) {
            assert.ok(isDom('AbortError')(one) && one !== aborted && one.message === 'm');
            assert.equal(same, one);
            const full = map.get(1);
            assert.ok(full instanceof QuotaExceededError);
            assert.deepEqual(
                [full.name, full.message, full.quota, full.requested],
                ['QuotaExceededError', 'full', 5, 7],
            );
        }
        assert.equal(window.structuredClone(aborted).name, 'AbortError');
        origin.close();
    });

    it('the channels of one agent receive in the order of their making, and messages arrive in the order of the posts', async () => {
        const origin = await createOrigin({ seed: 3 });
        const { BroadcastChannel } = origin.openTab().window;
        const [first, second, third] = ['n', 'n', 'n'].map((name) => new BroadcastChannel(name));
        /** @type {string[]} */
        const order = [];
        for (const [name, channel] of Object.entries({ first, second, third }))
            channel.onmessage = (/** @type {any} */ event) => order.push(`${name} ${event.data}`);
        first.postMessage('from first');
        third.postMessage('from third');
        await origin.settled();
        assert.deepEqual(order, [
            'second from first',
            'third from first',
            'first from third',
            'second from third',
        ]);
        origin.close();
    });

    it('a closed channel throws InvalidStateError when it posts, and receives no message that was on its way', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab().window, origin.openTab().window];
        const [sender, receiver] = [new a.BroadcastChannel('n'), new b.BroadcastChannel('n')];
        receiver.onmessage = () => assert.fail('the channel is closed');
        sender.postMessage(1);
        receiver.close();
        receiver.close();
        await origin.settled();
        assert.throws(() => receiver.postMessage(1), isDom('InvalidStateError'));
        let again = 0;
        new b.BroadcastChannel('n').onmessage = () => ++again;
        sender.postMessage(2);
        await origin.settled();
        assert.equal(again, 1);
        origin.close();
    });

    it('the name of a channel is required and becomes a string, and a message that cannot be cloned is a DataCloneError at once', async () => {
        const origin = await createOrigin();
        const { BroadcastChannel } = origin.openTab().window;
        assert.throws(() => new BroadcastChannel(), TypeError);
        assert.throws(() => BroadcastChannel('n'), TypeError);
        assert.deepEqual(
            [null, undefined, 1].map((name) => new BroadcastChannel(name).name),
            ['null', 'undefined', '1'],
        );
        const channel = new BroadcastChannel('n');
        assert.throws(() => channel.postMessage(), TypeError);
        assert.throws(() => channel.postMessage(Symbol('s')), isDom('DataCloneError'));
        assert.throws(() => channel.postMessage(() => {}), isDom('DataCloneError'));
        assert.deepEqual([channel.onmessage, channel.onmessageerror], [null, null]);
        assert.ok(channel instanceof EventTarget);
        origin.close();
    });

    it('a frozen tab receives messages when it is resumed, and a page in the back/forward cache never does', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        /** @type {number[]} */
        const received = [];
        const channel = new b.window.BroadcastChannel('n');
        channel.onmessage = (/** @type {any} */ event) => received.push(event.data);
        const sender = new a.window.BroadcastChannel('n');
        b.freeze();
        sender.postMessage(1);
        await origin.settled();
        assert.deepEqual(received, []);
        b.thaw();
        await origin.settled();
        assert.deepEqual(received, [1]);
        assert.equal(await b.bfcache(), true);
        sender.postMessage(2);
        await origin.settled();
        b.thaw();
        sender.postMessage(3);
        await origin.settled();
        assert.deepEqual(received, [1, 3]);
        origin.close();
    });
});

describe('the clock', () => {
    it('on the virtual clock hours pass at once, and timers fire in their order (HTML §8.6)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const begin = window.Date.now();
        /** @type {any[]} */
        const order = [];
        const done = new Promise((resolve) => window.setTimeout(resolve, 7_200_000));
        window.setTimeout((/** @type {any} */ ...given) => order.push(['b', ...given]), 20, 1, 2);
        window.setTimeout(() => order.push('a'), 10);
        window.setTimeout(() => order.push('a too'), 10);
        window.clearTimeout(window.setTimeout(() => assert.fail('the timer was cleared'), 5));
        const every = window.setInterval(
            () => order.push(window.performance.now()) === 7 && window.clearInterval(every),
            30,
        );
        await done;
        assert.deepEqual(order, ['a', 'a too', ['b', 1, 2], 30, 60, 90, 120]);
        assert.equal(window.Date.now() - begin, 7_200_000);
        assert.equal(new window.Date().getTime(), window.Date.now());
        assert.ok(new window.Date() instanceof Date && new window.Date(5).getTime() === 5);
        origin.setClock(1_000);
        assert.equal(window.Date.now(), 1_000);
        origin.close();
    });

    it('nested timers are clamped to 4 ms and those of a throttled tab to a minute, and a busy loop sees the time pass', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const nested = () =>
            new Promise((resolve) => {
                let deep = 0;
                const next = () =>
                    ++deep === 10 ? resolve(window.performance.now()) : window.setTimeout(next, 0);
                next();
            });
        assert.equal(await nested(), 16);
        const tab = origin.openTab();
        tab.throttle();
        assert.equal(tab.window.document.visibilityState, 'hidden');
        await new Promise((resolve) => tab.window.setTimeout(resolve, 1));
        assert.equal(tab.window.Date.now() % 60_000, 0);
        const until = window.Date.now() + 50;
        while (window.Date.now() < until);
        origin.close();
    });

    it('a throttled tab delays its pending timers, and they fire in time once it is shown', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        const at = (/** @type {number} */ ms) =>
            new Promise((resolve) => window.setTimeout(() => resolve(window.performance.now()), ms));
        const [early, cleared] = [at(100), window.setTimeout(() => assert.fail('cleared'), 50)];
        tab.throttle();
        window.clearTimeout(cleared);
        const before = window.Date.now();
        await early;
        assert.equal(window.Date.now() % 60_000, 0);
        assert.ok(window.Date.now() > before + 100);
        const begin = window.performance.now();
        const every = window.setInterval(() => {}, 250);
        const late = at(300);
        tab.show();
        assert.equal((await late) - begin, 300);
        window.clearInterval(every);
        origin.close();
    });

    it('the real clock is the clock of the machine', async () => {
        const origin = await createOrigin({ clock: 'real' });
        const { window } = origin.openTab();
        const begin = Date.now();
        await new Promise((resolve) => window.setTimeout(resolve, 20));
        assert.ok(Date.now() - begin >= 19 && Math.abs(window.Date.now() - Date.now()) < 1000);
        origin.close();
    });

    it('random numbers come from the seed', async () => {
        const draw = async (/** @type {number} */ seed) => {
            const origin = await createOrigin({ seed });
            const { window } = origin.openTab();
            const drawn = [
                window.Math.random(),
                window.crypto.randomUUID(),
                ...window.crypto.getRandomValues(new Uint8Array(4)),
            ];
            origin.close();
            return drawn;
        };
        assert.deepEqual(await draw(1), await draw(1));
        assert.notDeepEqual(await draw(1), await draw(2));
        assert.match(
            String((await draw(5))[1]),
            /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
    });
});

describe('tab.run', () => {
    it('scripts and functions find the tab’s own globals, and not the host’s', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        assert.equal(
            await a.run(
                'var shared = 5; function twice(n) { return 2 * n }\nlocalStorage.setItem("k", shared); shared',
            ),
            5,
        );
        assert.equal(await a.run('twice(shared)'), 10);
        assert.equal(a.window.shared, 5);
        assert.equal(
            await b.run('typeof shared + typeof process + typeof require'),
            'undefinedundefinedundefined',
        );
        assert.equal(await a.run(() => localStorage.getItem('k')), '5');
        assert.equal(await a.run((/** @type {string} */ key) => window.localStorage.getItem(key), 'k'), '5');
        const own = 'k';
        assert.equal(await a.run((/** @type {any} */ { localStorage }) => localStorage.getItem(own)), '5');
        assert.equal(
            await a.run(async function () {
                await navigator.locks.request('l', () => {});
                return self === window;
            }),
            true,
        );
        assert.ok((await a.run('[]')) instanceof Array);
        await assert.rejects(a.run('nonsense('), SyntaxError);
        await assert.rejects(a.run('throw new TypeError("t")'), TypeError);
        const { answer, default: it } = await a.run(
            'const n = 42;\nexport { n as answer };\nexport default localStorage.length;',
        );
        assert.deepEqual([answer, it], [42, 1]);
        assert.equal(/** @type {any} */ (globalThis).shared, undefined);
        origin.close();
    });

    it('an undeclared assignment is a property of the tab, a minified module is recognised, and the word export in a text makes no module', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        assert.equal(await a.run('cart = ["pen"]; for (at of [1, 2]); cart.length + at'), 3);
        await a.run(() => {
            // @ts-ignore: the variable is not declared
            basket = 2; // eslint-disable-line no-undef
        });
        assert.equal(await b.run('typeof cart + typeof at + typeof basket'), 'undefinedundefinedundefined');
        assert.deepEqual(
            ['cart', 'at', 'basket'].filter((name) => name in globalThis),
            [],
        );
        assert.deepEqual([...a.window.cart, a.window.basket], ['pen', 2]);
        await assert.rejects(async () => a.run('neverAssigned'), ReferenceError);
        const { greet, default: n } = await a.run("var r=t=>'hi '+t,n=1;export{n as default,r as greet};");
        assert.deepEqual([greet('you'), n], ['hi you', 1]);
        assert.equal(await a.run('var help = `usage:\nexport PATH=`; help.length'), 19);
        origin.close();
    });
});

describe('lifecycle', () => {
    it('the events of the lifecycle are dispatched in order, at the document and the window', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        /** @type {string[]} */
        const order = [];
        for (const type of ['visibilitychange', 'freeze', 'resume'])
            window.document.addEventListener(type, () =>
                order.push(`${type} ${window.document.visibilityState}`),
            );
        for (const type of ['pagehide', 'pageshow'])
            window.addEventListener(type, (/** @type {any} */ event) =>
                order.push(`${type} ${event.persisted}`),
            );
        tab.hide();
        tab.freeze();
        tab.thaw();
        tab.show();
        assert.equal(await tab.bfcache(), true);
        tab.thaw();
        await tab.close();
        assert.deepEqual(order, [
            'visibilitychange hidden',
            'freeze hidden',
            'resume hidden',
            'visibilitychange visible',
            'pagehide true',
            'visibilitychange hidden',
            'visibilitychange visible',
            'pageshow true',
            'pagehide false',
            'visibilitychange hidden',
        ]);
        assert.equal(window.closed, true);
        origin.close();
    });

    it('the window is the parent of its document: its listeners capture, and receive events that bubble (DOM §2.9)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        const { document } = window;
        /** @type {string[]} */
        const order = [];
        const noting = (/** @type {string} */ place) => (/** @type {any} */ event) => {
            assert.deepEqual(
                [
                    event.target === document,
                    event.currentTarget === (place === 'document' ? document : window),
                ],
                [true, true],
            );
            order.push(`${place} ${event.type} ${event.eventPhase}`);
        };
        for (const type of ['visibilitychange', 'freeze', 'resume']) {
            window.addEventListener(type, noting('capturing'), true);
            window.addEventListener(type, noting('bubbling'));
            window.addEventListener(type, () => order.push('once'), { once: true, capture: true });
            document.addEventListener(type, noting('document'));
        }
        tab.hide();
        tab.freeze();
        tab.thaw();
        tab.show();
        assert.deepEqual(order, [
            'capturing visibilitychange 1',
            'once',
            'document visibilitychange 2',
            'bubbling visibilitychange 3',
            'capturing freeze 1',
            'once',
            'document freeze 2',
            'capturing resume 1',
            'once',
            'document resume 2',
            'capturing visibilitychange 1',
            'document visibilitychange 2',
            'bubbling visibilitychange 3',
        ]);
        order.length = 0;
        document.addEventListener('visibilitychange', (/** @type {any} */ event) => event.stopPropagation());
        document.dispatchEvent(new window.Event('visibilitychange', { bubbles: true }));
        window.addEventListener(
            'visibilitychange',
            (/** @type {any} */ event) => event.stopImmediatePropagation(),
            true,
        );
        window.addEventListener('visibilitychange', () => assert.fail('the event was stopped'), true);
        document.dispatchEvent(new window.Event('visibilitychange', { bubbles: true }));
        assert.deepEqual(order, [
            'capturing visibilitychange 1',
            'document visibilitychange 2',
            'capturing visibilitychange 1',
        ]);
        origin.close();
    });

    it('a page that holds a lock does not enter the back/forward cache, unless it releases the lock in pagehide', async () => {
        for (const letsGo of [true, false]) {
            const origin = await createOrigin();
            const tab = origin.openTab();
            await tab.run(
                (/** @type {any} */ window) =>
                    new Promise((held) => {
                        void window.navigator.locks.request(
                            'l',
                            () =>
                                new Promise((resolve) => {
                                    held(undefined);
                                    if (letsGo) window.addEventListener('pagehide', resolve);
                                }),
                        );
                    }),
            );
            assert.equal(await tab.bfcache(), letsGo);
            assert.equal(tab.closed, !letsGo);
            origin.close();
        }
    });

    it('a killed tab runs nothing more, and its last writes may be lost', async () => {
        const outcomes = new Set();
        for (let seed = 0; seed < 20; ++seed) {
            const origin = await createOrigin({ seed });
            const [a, b] = [origin.openTab(), origin.openTab()];
            a.window.setTimeout(() => assert.fail('the tab is dead'), 1);
            a.window.localStorage.setItem('k', 'v');
            a.kill();
            await origin.settled();
            outcomes.add(b.window.localStorage.getItem('k'));
            await new Promise((resolve) => b.window.setTimeout(resolve, 10));
            origin.close();
        }
        assert.deepEqual(outcomes, new Set(['v', null]));
    });

    it('clearSiteData(), corrupt() and setQuota() change localStorage at once', async () => {
        const origin = await createOrigin();
        const { localStorage } = origin.openTab().window;
        localStorage.setItem('k', 'v');
        origin.corrupt('k');
        assert.notEqual(localStorage.getItem('k'), 'v');
        origin.corrupt({ key: 'k', value: 'x' });
        assert.equal(localStorage.getItem('k'), 'x');
        origin.clearSiteData();
        assert.equal(localStorage.length, 0);
        origin.setQuota(3);
        assert.throws(() => localStorage.setItem('long', 'value'), isDom('QuotaExceededError'));
        origin.close();
    });
});

/** @param {any} request @returns {Promise<any>} */
const settled = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/** @param {any} window @returns {Promise<any>} */
function opened(window) {
    const request = window.indexedDB.open('d', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('s');
    return settled(request);
}

describe('indexedDB (fake-indexeddb)', () => {
    it('a database belongs to the origin: the other tabs read what one commits, and transactions are serialised', async () => {
        const origin = await createOrigin({ seed: 4 });
        const windows = [origin.openTab().window, origin.openTab().window];
        assert.ok(windows[0].indexedDB instanceof windows[0].IDBFactory);
        const [a, b] = await Promise.all(windows.map(opened));
        const add = async (/** @type {any} */ connection) => {
            for (let at = 0; at < 10; ++at) {
                const store = connection.transaction('s', 'readwrite').objectStore('s');
                const n = (await settled(store.get('n'))) ?? 0;
                await settled(store.put(n + 1, 'n'));
            }
        };
        await Promise.all([add(a), add(b)]);
        assert.equal(await settled(b.transaction('s').objectStore('s').get('n')), 20);
        origin.close();
    });

    it('the transaction of a killed tab leaves nothing and holds up nobody, and a lost database closes its connections', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        const [mine, other] = [await opened(a.window), await opened(b.window)];
        mine.transaction('s', 'readwrite').objectStore('s').put(1, 'k');
        a.kill();
        assert.equal(await settled(other.transaction('s', 'readwrite').objectStore('s').get('k')), undefined);
        const closed = new Promise((resolve) => (other.onclose = resolve));
        origin.loseDatabase();
        await closed;
        assert.deepEqual(await b.window.indexedDB.databases(), []);
        origin.close();
    });
});

describe('createOrigin', () => {
    it('createOrigin() refuses bad and unknown options, and names them', async () => {
        for (const [argument, options] of Object.entries({
            url: { url: 'nowhere' },
            storage: { storage: 'shared' },
            seed: { seed: -1 },
            clock: { clock: 'sundial' },
            quota_bytes: { quota_bytes: 'much' },
            quirks: { quirks: ['unknown'] },
            'options.colour': { colour: 'red' },
        })) {
            await assert.rejects(
                createOrigin(/** @type {any} */ (options)),
                (/** @type {any} */ error) =>
                    error.code === 'invalid-argument' && error.argument === argument,
            );
        }
    });

    it('equal seeds make equal runs, and different seeds different ones', async () => {
        const run = async (/** @type {number} */ seed) => {
            const origin = await createOrigin({ seed });
            const tabs = [origin.openTab(), origin.openTab(), origin.openTab()];
            for (const { window } of tabs) {
                new window.BroadcastChannel('n').onmessage = () =>
                    window.localStorage.setItem('k', String(window.Math.random()));
                void window.navigator.locks.request('l', () =>
                    new window.BroadcastChannel('n').postMessage(1),
                );
            }
            await origin.settled();
            const { hash } = origin;
            origin.close();
            return hash;
        };
        const hashes = [await run(1), await run(1), await run(2), await run(3)];
        assert.equal(hashes[0], hashes[1]);
        assert.equal(new Set(hashes).size, 3);
    });

    it('a thousand tabs open and close', async () => {
        const origin = await createOrigin();
        const tabs = Array.from({ length: 1000 }, () => origin.openTab());
        tabs[0]?.window.localStorage.setItem('k', 'v');
        await origin.settled();
        assert.equal(tabs[999]?.window.localStorage.getItem('k'), 'v');
        await Promise.all(tabs.map((tab) => tab.close()));
        assert.equal(origin.tabs.length, 0);
        origin.close();
    });
});
