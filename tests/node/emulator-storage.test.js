/**
 * The emulator's Storage against HTML §12.2 and Web IDL §3.9: the assertions of web-platform-tests' webstorage suite,
 * written anew, for localStorage and sessionStorage alike.
 */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { isDom } from './expected-errors.js';

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
