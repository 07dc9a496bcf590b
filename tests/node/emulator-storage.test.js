/**
 * The emulator's Storage against HTML §12.2 and Web IDL §3.9: the assertions of web-platform-tests' webstorage suite,
 * written anew, for localStorage and sessionStorage alike.
 */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

const isDom = (/** @type {string} */ name) => (/** @type {any} */ error) =>
    error instanceof DOMException && error.name === name;

for (const area of /** @type {const} */ (['localStorage', 'sessionStorage'])) {
    describe(`${area}, one document`, () => {
        /** @type {import('tabacus/emulator').Origin} */
        let origin;
        /** @type {any} */
        let window;
        /** @type {any} */
        let storage;

        before(async () => {
            origin = await createOrigin({ url: 'https://example.test/page', quota_bytes: 5000 });
        });
        beforeEach(() => {
            for (const tab of origin.tabs) tab.kill();
            ({ window } = origin.openTab());
            storage = window[area];
            storage.clear();
        });
        after(() => origin.close());

        it('§12.2.1: getItem() returns null for a missing item, and "" for an empty one', () => {
            storage.setItem('name', 'user1');
            storage.setItem('empty', '');
            assert.deepEqual(
                [storage.getItem('name'), storage.getItem('empty'), storage.getItem('no')],
                ['user1', '', null],
            );
            assert.deepEqual([storage.name, storage.empty, storage.no], ['user1', '', undefined]);
        });

        it('Web IDL §3.2.10: keys and values are DOMStrings', () => {
            for (const value of [null, undefined, 0, 1.5, true, {}, [1, 2], () => 1]) {
                storage.setItem(value, value);
                assert.equal(storage.getItem(`${value}`), `${value}`);
                storage.removeItem(value);
                assert.equal(storage.length, 0);
            }
            const symbol = Symbol('no string');
            for (const call of [
                () => storage.setItem('k', symbol),
                () => storage.setItem(symbol, 'v'),
                () => storage.getItem(symbol),
                () => (storage.k = symbol),
            ]) {
                assert.throws(call, TypeError);
            }
            assert.throws(
                () =>
                    storage.setItem('k', {
                        toString: () => {
                            throw new RangeError('mine');
                        },
                    }),
                RangeError,
            );
            assert.equal(storage.length, 0);
        });

        it('Web IDL §3.7.7: arguments are counted first, and then converted from left to right', () => {
            const why = (/** @type {string} */ name, /** @type {string} */ counts) => ({
                name: 'TypeError',
                message: `Failed to execute '${name}' on 'Storage': ${counts} present.`,
            });
            assert.throws(() => storage.setItem('only'), why('setItem', '2 arguments required, but only 1'));
            for (const name of ['getItem', 'removeItem', 'key'])
                assert.throws(() => storage[name](), why(name, '1 argument required, but only 0'));
            /** @type {string[]} */
            const order = [];
            const tracked = (/** @type {string} */ text) => ({ toString: () => (order.push(text), text) });
            storage.setItem(tracked('key'), tracked('value'));
            assert.deepEqual(order, ['key', 'value']);
            assert.deepEqual(
                [window.Storage.prototype.setItem.length, window.Storage.prototype.key.length],
                [2, 1],
            );
        });

        it('UTF-16 with lone surrogates, U+0000 and units beyond the basic plane are kept', () => {
            for (const text of [
                '\uD800',
                '\uDC00',
                '\uDC00\uD800',
                '\0',
                'a\0b',
                '😀',
                '\uFFFF',
                '\uFFFE',
                'é',
                '漢',
                '\uD83D x \uDE00',
                '\uDC00 in more units than are copied one by one \uD83D',
                'x'.repeat(2000),
            ]) {
                storage.setItem(text, text);
                // When an item is removed, the tab drops its copies, and the next read takes the value from the area.
                storage.setItem('removed', '');
                storage.removeItem('removed');
                assert.equal(storage.getItem(text), text);
                assert.ok(Object.keys(storage).includes(text));
                storage.removeItem(text);
            }
            assert.equal(storage.length, 0);
        });

        it('§12.2.1: length and key(n) list each key once, and keep the order while only values change', () => {
            for (const key of ['name', 'age', 'a', 'b']) storage.setItem(key, key);
            const names = Array.from({ length: storage.length }, (_, at) => storage.key(at));
            assert.deepEqual([...names].sort(), ['a', 'age', 'b', 'name']);
            storage.setItem('a', 'other');
            storage.b = 'other';
            assert.deepEqual(
                Array.from({ length: 4 }, (_, at) => storage.key(at)),
                names,
            );
            storage.setItem('c', '');
            assert.deepEqual([storage.length, Object.keys(storage).includes('c')], [5, true]);
            storage.removeItem('c');
            assert.deepEqual([storage.key(-1), storage.key(4), storage.key(2 ** 32)], [null, null, names[0]]);
            assert.deepEqual(
                [storage.key('1'), storage.key(NaN), storage.key(1.9)],
                [names[1], names[0], names[1]],
            );
            assert.throws(() => storage.key(Symbol('1')), TypeError);
            assert.throws(() => storage.key(1n), TypeError);
            assert.deepEqual(Object.keys(storage), names);
        });

        it('§3.9.2 and §3.9.3: an assignment to a property sets an item, whatever member of the prototype has the name', () => {
            storage.foo = 'bar';
            storage[7] = 7;
            assert.deepEqual([storage.getItem('foo'), storage.getItem('7'), storage[7]], ['bar', '7', '7']);
            storage.setItem('foo', 'other');
            assert.equal(storage['foo'], 'other');
            for (const name of ['getItem', 'length', 'key', 'toString', 'constructor', '__proto__']) {
                storage[name] = 'mine';
                assert.equal(storage.getItem(name), 'mine');
            }
            assert.equal(typeof storage.getItem, 'function');
            assert.equal(storage.length, 8);
            assert.equal(Object.getPrototypeOf(storage), window.Storage.prototype);
        });

        it('§3.9.8: a member of the prototypes shadows an item for reads, `in`, delete and enumeration', () => {
            storage.setItem('clear', 'almost');
            assert.equal(typeof storage.clear, 'function');
            assert.equal(storage.getItem('clear'), 'almost');
            assert.equal(Object.hasOwn(storage, 'clear'), false);
            assert.equal('clear' in storage, true);
            assert.deepEqual([Object.keys(storage), Reflect.ownKeys(storage)], [[], []]);
            assert.equal(delete storage.clear, true);
            assert.equal(storage.getItem('clear'), 'almost');
            window.Storage.prototype.late = 'of the prototype';
            storage.setItem('late', 'of the item');
            assert.equal(storage.late, 'of the prototype');
            delete window.Storage.prototype.late;
            assert.equal(storage.late, 'of the item');
        });

        it('`in`, hasOwnProperty and propertyIsEnumerable find items', () => {
            storage.setItem('there', '');
            assert.deepEqual(
                ['there' in storage, 'not' in storage, 'getItem' in storage],
                [true, false, true],
            );
            assert.ok(
                Object.hasOwn(storage, 'there') &&
                    Object.prototype.propertyIsEnumerable.call(storage, 'there'),
            );
            assert.ok(!Object.hasOwn(storage, 'not') && !Object.hasOwn(storage, 'length'));
            assert.deepEqual(Object.getOwnPropertyDescriptor(storage, 'there'), {
                value: '',
                writable: true,
                enumerable: true,
                configurable: true,
            });
        });

        it('delete removes an item, and is true also for a missing one', () => {
            storage.setItem('k', 'v');
            assert.ok(delete storage.k);
            assert.ok(delete storage.k);
            assert.deepEqual([storage.k, storage.getItem('k'), storage.length], [undefined, null, 0]);
        });

        it('§3.9.3: defineProperty() with a value sets an item, and with an accessor is refused', () => {
            Object.defineProperty(storage, 'k', { value: 'v' });
            assert.equal(storage.getItem('k'), 'v');
            assert.throws(() => Object.defineProperty(storage, 'k', { get: () => 'v' }), TypeError);
            assert.ok(Reflect.defineProperty(storage, 'n', { value: 5, enumerable: false }));
            assert.deepEqual(Object.getOwnPropertyDescriptor(storage, 'n'), {
                value: '5',
                writable: true,
                enumerable: true,
                configurable: true,
            });
        });

        it('§3.9.5: a Storage is always extensible', () => {
            assert.equal(Reflect.preventExtensions(storage), false);
            assert.throws(() => Object.freeze(storage), TypeError);
            assert.ok(Object.isExtensible(storage));
        });

        it('a property whose key is a symbol is no item', () => {
            const symbol = Symbol('s');
            storage[symbol] = { any: 'thing' };
            assert.deepEqual(storage[symbol], { any: 'thing' });
            assert.equal(storage.length, 0);
            Object.defineProperty(storage, Symbol.for('d'), { value: 1, configurable: true });
            assert.deepEqual(Object.getOwnPropertySymbols(storage), [symbol, Symbol.for('d')]);
            assert.ok(delete storage[symbol] && !(symbol in storage));
        });

        it('enumeration lists items, and then the members of the prototype', () => {
            storage.setItem('foo', '1');
            storage.bar = '2';
            /** @type {string[][]} */
            const [own, all] = [[], []];
            for (const key in storage) (Object.hasOwn(storage, key) ? own : all)?.push(key);
            assert.deepEqual(own?.sort(), ['bar', 'foo']);
            assert.deepEqual(all?.sort(), ['clear', 'getItem', 'key', 'length', 'removeItem', 'setItem']);
            assert.deepEqual({ ...storage }, { bar: '2', foo: '1' });
            assert.equal(JSON.stringify(storage).length, JSON.stringify({ bar: '2', foo: '1' }).length);
        });

        it('an object that inherits from a Storage is ordinary', () => {
            const child = Object.create(storage);
            child.foo = 'own';
            assert.deepEqual(
                [storage.getItem('foo'), child.foo, Object.hasOwn(child, 'foo')],
                [null, 'own', true],
            );
            assert.throws(() => child.getItem('foo'), TypeError);
        });

        it('the interface Storage has no constructor, has a class string, and has methods that require a Storage', () => {
            assert.throws(() => new window.Storage(), TypeError);
            assert.ok(storage instanceof window.Storage);
            assert.equal(Object.prototype.toString.call(storage), '[object Storage]');
            assert.throws(() => window.Storage.prototype.getItem.call({}, 'k'), TypeError);
            assert.throws(() => window.Storage.prototype.length, TypeError);
            assert.equal(window.Storage.prototype.getItem.call(storage, 'k'), null);
            assert.equal(window[area], storage);
        });

        it('Web IDL §3.7.7: a method checks its `this` before its arguments', () => {
            let looked = 0;
            const argument = { toString: () => `${++looked}`, valueOf: () => ++looked };
            for (const name of ['key', 'getItem', 'setItem', 'removeItem']) {
                assert.throws(() => window.Storage.prototype[name].call({}, argument, argument), TypeError);
            }
            assert.equal(looked, 0);
        });

        it('a write to a full storage throws QuotaExceededError, and the old value is kept', () => {
            storage.setItem('k', 'old');
            const big = 'x'.repeat(5000);
            for (const write of [
                () => storage.setItem('k', big),
                () => (storage.k = big),
                () => storage.setItem(big, ''),
                () => Object.defineProperty(storage, 'k', { value: big }),
            ]) {
                assert.throws(write, isDom('QuotaExceededError'));
            }
            assert.deepEqual([storage.getItem('k'), storage.length], ['old', 1]);
            storage.setItem('k', 'x'.repeat(4999));
            assert.throws(
                () => storage.setItem('l', 'y'),
                (/** @type {any} */ error) => error.code === 22,
            );
            storage.setItem('k', 'y'.repeat(4999));
            storage.removeItem('k');
            storage.setItem('l', 'fits');
        });

        it('clear() removes many items', () => {
            for (let at = 0; at < 200; ++at) storage.setItem(`key ${at}`, `${at}`);
            assert.equal(storage.length, 200);
            assert.deepEqual(
                Array.from({ length: 200 }, (_, at) => storage.getItem(`key ${at}`)),
                Array.from({ length: 200 }, (_, at) => `${at}`),
            );
            storage.clear();
            assert.deepEqual([storage.length, storage.key(0), Object.keys(storage)], [0, null, []]);
        });
    });
}

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
            origin[act]('k');
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
