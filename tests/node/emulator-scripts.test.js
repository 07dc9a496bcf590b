/** How tab.run() runs texts and functions: the names that they find, declare and export. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

/** @param {(tab: any, origin: import('tabacus/emulator').Origin) => unknown} call */
async function withTab(call) {
    const origin = await createOrigin({ url: 'https://shop.example/' });
    await call(origin.openTab(), origin);
    origin.close();
}

/**
 * Calls a function while the host's global object has further properties, and removes them.
 *
 * @param {Record<string, unknown>} more
 * @param {() => unknown} call
 */
async function withHost(more, call) {
    const had = Object.fromEntries(
        Object.keys(more).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
    );
    for (const [name, value] of Object.entries(more))
        Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    const before = Object.getOwnPropertyNames(globalThis);
    try {
        await call();
        assert.deepEqual(
            Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name)),
            [],
        );
        for (const [name, value] of Object.entries(more))
            assert.equal(/** @type {any} */ (globalThis)[name], value);
    } finally {
        for (const [name, descriptor] of Object.entries(had)) {
            if (descriptor) Object.defineProperty(globalThis, name, descriptor);
            else Reflect.deleteProperty(globalThis, name);
        }
    }
}

describe('the names that a script finds', () => {
    it('scripts do not find the platform of the host, and what they assign are properties of the tab', async () => {
        const items = new Map();
        const localStorage = {
            setItem: (/** @type {string} */ key, /** @type {string} */ value) => items.set(key, value),
        };
        await withHost(
            {
                localStorage,
                document: { title: 'host' },
                XMLHttpRequest: class {},
                history: {},
                status: 'host',
                Lock: class {},
            },
            async () => {
                await withTab(async (tab) => {
                    const worker = tab.openWorker();
                    assert.equal(
                        await worker.run(
                            '[typeof window, typeof document, typeof localStorage, typeof history].join()',
                        ),
                        'undefined,undefined,undefined,undefined',
                    );
                    await assert.rejects(worker.run('localStorage.setItem("k", "v")'), ReferenceError);
                    await assert.rejects(worker.run('document'), ReferenceError);
                    assert.equal(
                        await tab.run('typeof XMLHttpRequest + typeof history'),
                        'undefinedundefined',
                    );
                    assert.equal(await tab.run(() => typeof XMLHttpRequest), 'undefined');
                    assert.equal(await tab.run('status = "own"; status'), 'own');
                    assert.equal(tab.window.status, 'own');
                });
                const insecure = await createOrigin({ url: 'http://insecure.example/' });
                assert.equal(await insecure.openTab().run('typeof Lock'), 'undefined');
                insecure.close();
            },
        );
        assert.equal(items.size, 0);
    });

    it('an assignment without a declaration, also by a pattern or in eval(), makes a property of the global object, and reading it before is an error', () =>
        withHost({}, () =>
            withTab(async (tab) => {
                await tab.run(
                    '[first] = ["a"]; ({ second, at: [third = "c"] } = { second: "b", at: [] }); for ([fourth] of [["d"]]); eval("fifth = \'e\'")',
                );
                assert.deepEqual(
                    ['first', 'second', 'third', 'fourth', 'fifth'].map((name) => tab.window[name]).join(''),
                    'abcde',
                );
                assert.equal(
                    await tab.run(
                        'typeof sixth + (() => { try { return seventh } catch (error) { return error.name } })(); ',
                    ),
                    'undefinedReferenceError',
                );
                assert.equal(
                    await tab.run(
                        'let found; try { found = eighth } catch (error) { found = error.name } eighth = 1; found',
                    ),
                    'ReferenceError',
                );
                await assert.rejects(tab.run('"use strict"; ninth = 1'), ReferenceError);
                await assert.rejects(tab.run('export {}; tenth = 1'), ReferenceError);
                assert.equal('ninth' in tab.window || 'tenth' in tab.window, false);
            }),
        ));

    it('a function finds the globals of the test runner, and a script does not', () =>
        withHost({ expect: () => 'expected' }, () =>
            withTab(async (tab) => {
                // @ts-ignore: Jest's
                assert.equal(await tab.run(() => expect()), 'expected'); // eslint-disable-line no-undef
                assert.equal(await tab.run('typeof expect'), 'undefined');
            }),
        ));

    it('the names of ECMAScript are properties of every global object (§19), so that a library recognises it as one', () =>
        withHost({}, () =>
            withTab(async (tab) => {
                for (const { window } of [tab, tab.openFrame(), { window: tab.openWorker().scope }]) {
                    assert.deepEqual(
                        [window.Promise, window.Object, window.globalThis, window.parseInt],
                        [Promise, Object, window, parseInt],
                    );
                    assert.deepEqual(Object.getOwnPropertyDescriptor(window, 'Promise'), {
                        value: Promise,
                        writable: true,
                        configurable: true,
                        enumerable: false,
                    });
                    assert.deepEqual(Object.getOwnPropertyDescriptor(window, 'NaN'), {
                        value: NaN,
                        writable: false,
                        configurable: false,
                        enumerable: false,
                    });
                }
                // lodash finds its global object in this way.
                await tab.run(
                    '(function () { var root = typeof self == "object" && self && self.Object === Object && self || Function("return this")(); root._ = 1; }.call(this))',
                );
                assert.equal(tab.window._, 1);
                assert.equal(await tab.run('function own() { return this === window } own()'), true);
                assert.equal(await tab.run('[atob("aGk="), btoa("hi"), fetch.name].join()'), 'hi,aGk=,fetch');
            }),
        ));
});

describe('what a script declares', () => {
    it('the declarations of a script exist from its first statement on, also if it throws, and inner names are not among them', () =>
        withTab(async (tab) => {
            assert.equal(
                await tab.run('var early = typeof window.late + window.early; function late() {} early'),
                'functionundefined',
            );
            await assert.rejects(
                tab.run('function kept() { return 1 } var half = 2, other; throw new RangeError("r")'),
                RangeError,
            );
            assert.equal(await tab.run('kept() + half + typeof other'), '3undefined');
            await tab.run(
                '(function () { var length = 3; function close() {} })(); function inner() { var length = 4; return length }',
            );
            tab.openFrame();
            assert.deepEqual([tab.window.length, tab.window.close.length, tab.window.inner()], [1, 0, 4]);
            await tab.run(
                'var { a, b: [c = 1, ...d], ...e } = { a: 1, b: [] }, f = { g: 1 }\nif (true) { var h = 1; function i() {} }',
            );
            assert.equal(
                await tab.run('[a, c, d.length, typeof e, f.g, h, typeof i].join()'),
                '1,1,0,object,1,1,function',
            );
            await tab.run('function again() { return 1 }');
            assert.equal(await tab.run('function again() { return 2 } again()'), 2);
        }));

    it('names declared by let, const and class are visible to the next scripts, and are no properties of the window', () =>
        withTab(async (tab) => {
            await tab.run(
                'let count = 1; const limit = 5; class Cart { get size() { return count } } function more() { ++count }',
            );
            assert.equal(await tab.run('more(); count += 2; new Cart().size'), 4);
            assert.equal(await tab.run('typeof globalThis.count + typeof Cart'), 'undefinedfunction');
            await assert.rejects(tab.run('limit = 6'), TypeError);
            assert.deepEqual(
                ['count', 'limit', 'Cart'].filter((name) => name in tab.window),
                [],
            );
        }));

    it('a strict script has its value and its functions', () =>
        withTab(async (tab) => {
            assert.equal(
                await tab.run(
                    '/* a */ // b\n"use strict";\nvar sum = 1 + 1, more = 5; function two() { return this === undefined } two(); sum',
                ),
                2,
            );
            assert.equal(await tab.run('sum + more + typeof two'), '7function');
        }));

    it('names declared by let and const are found without semicolons, among functions and after a Hashbang Comment (§12.5)', () =>
        withTab(async (tab) => {
            await tab.run(
                '#!/usr/bin/env node\nconst f = () => {}\nvar g = function () {}\ng(), bar = 5\nclass C {}\nlet h = { x: 1 }\n',
            );
            assert.equal(
                await tab.run('typeof f + typeof g + bar + typeof C + h.x'),
                'functionfunction5function1',
            );
            assert.equal(tab.window.bar, 5);
            const lines = Array.from(
                { length: 3_000 },
                (_, i) => `const a${i} = () => { return ${i} }\nvar b${i} = function () {}`,
            );
            assert.equal(await tab.run(`${lines.join('\n')}\na7()`), 7);
        }));

    it('a text of many comments is read fast', () =>
        withTab(async (tab) => {
            const source = `/* a licence */\n${'var x = 1;\n/* one */\n/* two */\n'.repeat(2000)}x`;
            assert.equal(await tab.run(source), 1);
        }));
});

it('a tab is loaded, and a script receives DOMContentLoaded and load when they are dispatched in the tab', () =>
    withTab(async (tab, origin) => {
        await tab.run(`
            const received = [document.readyState];
            document.addEventListener('DOMContentLoaded', ({ type }) => received.push(type));
            addEventListener('DOMContentLoaded', ({ type, target }) => received.push(type + ' ' + (target === document)));
            addEventListener('load', ({ type }) => received.push(type));
            onload = () => received.push('onload');
        `);
        await origin.settled();
        assert.deepEqual(await tab.run('received'), ['complete']);
        await tab.run(() => {
            document.dispatchEvent(new Event('DOMContentLoaded', { bubbles: true }));
            dispatchEvent(new Event('load'));
        });
        assert.deepEqual(await tab.run('received'), [
            'complete',
            'DOMContentLoaded',
            'DOMContentLoaded true',
            'load',
            'onload',
        ]);
    }));

describe('modules', () => {
    /** @type {[string, string, Record<string, unknown>][]} */
    const texts = [
        [
            'a function by default, used above it',
            'export const made = make();\nexport default function make() { return 7 }',
            { made: 7, default: 'function' },
        ],
        [
            'a class by default',
            'export default class Foo { x = 1 }\nexport const made = new Foo().x;',
            { made: 1, default: 'function' },
        ],
        [
            'a nameless function by default, followed by a parenthesis',
            'let n = 0\nexport default function () {}\n(() => { n = 1 })()\nexport { n }',
            { n: 1, default: 'function' },
        ],
        [
            'several exports in a line',
            'const a=1;export default a;export const b=2,c=3;export{a as d};',
            { default: 1, b: 2, c: 3, d: 1 },
        ],
        [
            'patterns',
            'export const { a, b: [c = { x: 1 }], ...d } = { a: 1, b: [] }, [e, , f] = [5, 6, 7];',
            { a: 1, c: { x: 1 }, d: {}, e: 5, f: 7 },
        ],
        [
            'no semicolons',
            'export const a = 1\nexport let b = a\n  + 1\nexport var c = [a, b].map((n) => n)\nexport { a as z }',
            { a: 1, b: 2, c: [1, 2], z: 1 },
        ],
        [
            'functions without semicolons, after a Hashbang Comment',
            '#!/x\nexport const f = () => { return 1 }\nvoid 0, Math\nexport const g = f()',
            { f: 'function', g: 1 },
        ],
        ['a string as a name', "const a = 1; export { a as 'a b', a as default };", { 'a b': 1, default: 1 }],
        [
            'the word `export` in strings, comments, templates and regular expressions',
            // eslint-disable-next-line no-template-curly-in-string
            'export const a = `\nexport const b = ${1}\n${`export`}`.length\n/*\nexport const c = 1;\n*/ // export\nconst d = /`;export e/\nconst o = { export: 1 }; o.export',
            { a: 26 },
        ],
        [
            'import.meta',
            // eslint-disable-next-line no-template-curly-in-string
            'export const url = import.meta.url; export default [`${import.meta.url}`].length',
            { url: 'https://shop.example/', default: 1 },
        ],
        ['await, and no export', 'const a = await 1; const b = async () => await a;', {}],
    ];
    for (const [what, text, expected] of texts) {
        it(`run() returns the exports of a module: ${what}`, () =>
            withTab(async (tab) => {
                const exports = await tab.run(text);
                const shown = Object.fromEntries(
                    Object.entries(exports).map(([name, value]) => [
                        name,
                        typeof value === 'function' ? 'function' : value,
                    ]),
                );
                assert.deepEqual(shown, expected);
            }));
    }

    it('exports have their present values, and a script with an await in a function is no module', () =>
        withTab(async (tab) => {
            const counter = await tab.run('export let n = 0; export function inc() { ++n }');
            counter.inc();
            assert.equal(counter.n, 1);
            assert.equal(await tab.run('const f = async () => { await 1; return 2 }; typeof f'), 'function');
        }));
});

describe('functions of every form', () => {
    const key = 'own';
    const symbol = Symbol('s');
    const { get } = /** @type {any} */ (
        Object.getOwnPropertyDescriptor(
            {
                get x() {
                    return typeof localStorage;
                },
            },
            'x',
        )
    );
    class Holder {
        static async go() {
            return typeof localStorage;
        }
        static #hidden() {
            return typeof localStorage;
        }
        static hidden = Holder.#hidden;
    }
    /** @type {Record<string, Function>} */
    const forms = {
        'an async arrow without spaces': new Function('return async()=>{return typeof localStorage}')(), // eslint-disable-line no-new-func
        'an arrow of one async parameter': new Function('return async(...a)=>typeof localStorage')(), // eslint-disable-line no-new-func
        'a method called async': {
            async() {
                return typeof localStorage;
            },
        }.async,
        'an async method': {
            async go() {
                return typeof localStorage;
            },
        }.go,
        'a computed name': {
            [key]() {
                return typeof localStorage;
            },
        }[key],
        'a symbol': {
            [symbol]() {
                return typeof localStorage;
            },
        }[symbol],
        'a string': {
            'my go'() {
                return typeof localStorage;
            },
        }['my go'],
        'a keyword': {
            delete() {
                return typeof localStorage;
            },
        }.delete,
        'a getter': get,
        'a static method': Holder.go,
        'a private method': Holder.hidden,
    };
    for (const [what, form] of Object.entries(forms)) {
        it(`run() calls a function of the form: ${what}`, () =>
            withTab(async (tab) => assert.equal(await tab.run(form), 'object')));
    }
});
