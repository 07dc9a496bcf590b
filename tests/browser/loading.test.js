/** Pages whose files do not load, whose policies forbid a part of the platform, or whose platform lacks it. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { freezeAll, uncaught, useFaultySite } from './harness/faulty-tabs.js';

/** Counts, locks, and runs a job of a queue. Runs in a page. @param {string} namespace */
async function useAll(namespace) {
    const { tabacus } = /** @type {any} */ (globalThis);
    const tab = await tabacus.open({ namespace });
    tab.counter('visits').add(2);
    await tab.counter('visits').flush();
    const locked = await tab.lock('l').run(() => 'locked');
    const queue = tab.queue('q');
    queue.handle((/** @type {any} */ { payload }) => payload.n + 1);
    const { result } = await queue.enqueue({ n: 4 });
    const all = [await tab.counter('visits').read(), locked, await result, await tab.sequence('s').next()];
    await tab.close();
    return all;
}

const usedAll = [2, 'locked', 5, 1];

/** The outcome of open(), as text. Runs in a page. @param {string} namespace */
async function tryOpen(namespace) {
    const { outcome, tabacus } = /** @type {any} */ (globalThis);
    return String(await outcome(() => tabacus.open({ namespace })));
}

describeIn(
    Object.values(ENGINES),
    'A page whose files do not load, or that forbids or lacks something',
    (engine) => {
        const site = useFaultySite(engine);

        /** @type {[import('./harness/faulty-site.js').Fault, RegExp][]} */
        const faults = [
            ['404', /the answer was 404; after a new deployment, reload the page/],
            ['html', /the answer was a page of HTML; after a new deployment, reload the page/],
            ['junk', /4 bytes are no complete WebAssembly/],
            ['other', /: this is not of tabacus \d+\.\d+\.\d+; after a new deployment, reload the page/],
            ['dropped', /no answer; .*else call again/],
        ];

        it('open() reports what is wrong with a wasm file, and works once the file is back', async () => {
            const page = site.page();
            const tab = await site.show(page);
            for (const [fault, expected] of faults) {
                page.fail(/\.wasm$/, fault);
                const failed = await tab.evaluate(tryOpen, 'wasm-gone');
                assert.match(failed, /^TabacusError unavailable: counters\.wasm could not be loaded/);
                assert.match(failed, expected);
            }
            page.fail(undefined);
            assert.deepEqual(await tab.evaluate(useAll, 'wasm-gone'), usedAll);
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        it('a warning reports that a handler waits for its piece, and the handler starts when the piece is back', async () => {
            for (const back of ['online', 'visible']) {
                const page = site.page();
                const tab = await site.show(page); // a page that has loaded nothing
                const store = await tab.evaluate(async () => {
                    const { tabacus } = /** @type {any} */ (globalThis);
                    const own = await tabacus.open({ namespace: 'handler' });
                    Object.assign(globalThis, { own });
                    return own.capabilities.store;
                });
                assert.equal(store, 'indexeddb');
                page.fail(/\.wasm$/);
                const received = await tab.evaluate(async (name) => {
                    const { own } = /** @type {any} */ (globalThis);
                    const warned = new Promise((resolve) =>
                        own.addEventListener('warning', (/** @type {any} */ { detail }) => resolve(detail), {
                            once: true,
                        }),
                    );
                    own.queue(name).handle((/** @type {any} */ { payload }) => `done ${payload}`);
                    return warned;
                }, back);
                assert.equal(received.code, 'unavailable');
                assert.equal(received.subject, back);
                assert.match(received.message, /404.*begins once that is no longer so$/);
                page.fail(undefined);
                await tab.evaluate((how) => {
                    if (how === 'online') dispatchEvent(new Event('online'));
                    else document.dispatchEvent(new Event('visibilitychange'));
                }, back);
                const other = await site.show(site.page());
                const result = await other.evaluate(async (name) => {
                    const { tabacus } = /** @type {any} */ (globalThis);
                    const its = await tabacus.open({ namespace: 'handler' });
                    const done = await (await its.queue(name).enqueue(name)).result;
                    await its.close();
                    return done;
                }, back);
                assert.equal(result, `done ${back}`);
                await other.close();
                assert.deepEqual(await tab.evaluate(uncaught), []);
                await tab.close();
            }
        });

        it('open() does not wait for a file that an earlier call of it never received', async () => {
            const tab = await site.show(site.page());
            const counted = await tab.evaluate(async () => {
                const { tabacus } = /** @type {any} */ (globalThis);
                const { fetch } = globalThis;
                globalThis.fetch = () => new Promise(() => {});
                tabacus.open({ namespace: 'unanswered' });
                globalThis.fetch = fetch;
                const own = await tabacus.open({ namespace: 'answered' });
                own.counter('c').add(1);
                const { value } = own.counter('c');
                await own.close();
                return value;
            });
            assert.equal(counted, 1);
            await tab.close();
        });

        /** Locks once. Runs in a page. @param {string} name */
        const tryLock = async (name) => {
            const { outcome, own } = /** @type {any} */ (globalThis);
            return String(await outcome(() => own.lock(name).run(() => 'locked')));
        };

        it('a lock works once its scripts are back, and in Firefox its error asks for a reload', async () => {
            const page = site.page();
            const tab = await site.show(page);
            await tab.evaluate(async () => {
                const { tabacus } = /** @type {any} */ (globalThis);
                Object.assign(globalThis, { own: await tabacus.open({ namespace: 'scripts' }) });
            });
            for (const fault of /** @type {const} */ (['404', 'html', 'dropped'])) {
                page.fail(/\.js$/, fault);
                const failed = await tab.evaluate(tryLock, 'l');
                assert.match(
                    failed,
                    /^TabacusError unavailable: a module of the package could not be loaded \(.+\): /,
                );
                assert.match(
                    failed,
                    engine === ENGINES.firefox
                        ? /http:.*: reload the page: this browser/
                        : /: call again, or, after .* reload the page$/,
                );
            }
            const threads = await tab.evaluate(() => {
                const { outcome, tabacus } = /** @type {any} */ (globalThis);
                return outcome(() => tabacus.threads());
            });
            assert.match(threads, /^TabacusError unavailable: a module of the package could not be loaded/);
            page.fail(undefined);
            const outcome = await tab.evaluate(tryLock, 'l');
            if (engine === ENGINES.firefox) assert.match(outcome, /: reload the page: this browser/);
            else assert.equal(outcome, 'locked');
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        it('a lock whose scripts are never answered rejects after 60 s, and works when they have arrived', async () => {
            const page = site.page();
            const tab = await site.show(page);
            await tab.evaluate(async () => {
                const { setTimeout, tabacus } = /** @type {any} */ (globalThis);
                Object.assign(globalThis, { own: await tabacus.open({ namespace: 'silent' }) });
                // The first timer of 60 s is that of the script.
                const hurried = (/** @type {() => void} */ call, /** @type {number} */ delay_ms) => {
                    if (delay_ms === 60_000) Object.assign(globalThis, { setTimeout });
                    return setTimeout(call, delay_ms === 60_000 ? 0 : delay_ms);
                };
                Object.assign(globalThis, { setTimeout: hurried });
            });
            page.fail(/\.js$/, 'silent');
            assert.match(
                await tab.evaluate(tryLock, 'l'),
                /^TabacusError unavailable: a module .* \(no answer within 60 s\): call again/,
            );
            page.fail(undefined);
            assert.equal(await tab.evaluate(tryLock, 'l'), 'locked');
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        it('an error names the policy that forbids WebAssembly or the connection', async () => {
            /** @type {[(csp: string) => string, RegExp][]} */
            const cases = [
                [
                    (csp) => csp.replace(" 'wasm-unsafe-eval'", ''),
                    /Content-Security-Policy.*'wasm-unsafe-eval'/,
                ],
                [
                    (csp) => csp.replace("connect-src 'self'", "connect-src 'none'"),
                    /connect-src \(Content-Security-Policy\)/,
                ],
            ];
            for (const [policy, expected] of cases) {
                const tab = await site.show(site.page(policy));
                const failed = await tab.evaluate(tryOpen, 'policy');
                assert.match(failed, /^TabacusError unavailable: counters\.wasm could not be loaded/);
                assert.match(failed, expected);
                assert.deepEqual(await tab.evaluate(uncaught), []);
                await tab.close();
            }
        });

        it('the error of open() names the missing function that it needs', async () => {
            const tab = await site.show(site.page());
            for (const name of ['WebAssembly', 'fetch', 'TextEncoder', 'TextDecoder']) {
                const failed = await tab.evaluate(async (missing) => {
                    const { outcome, tabacus } = /** @type {any} */ (globalThis);
                    const value = /** @type {any} */ (globalThis)[missing];
                    delete (/** @type {any} */ (globalThis)[missing]);
                    try {
                        return await outcome(() => tabacus.open({ namespace: 'missing' }));
                    } finally {
                        Object.defineProperty(globalThis, missing, {
                            value,
                            configurable: true,
                            writable: true,
                        });
                    }
                }, name);
                assert.match(
                    failed,
                    new RegExp(`^TabacusError unavailable: [\\w.()]+ needs ${name}, and there is none`),
                );
            }
            assert.deepEqual(await tab.evaluate(useAll, 'missing'), usedAll);
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        /** Removes functions that the package does not need. Runs in a page. */
        const takeAway = () => {
            const all = /** @type {any} */ (globalThis);
            for (const name of [
                'structuredClone',
                'queueMicrotask',
                'MessageChannel',
                'reportError',
                'Worker',
            ])
                delete all[name];
            delete all.WebAssembly.compileStreaming;
            delete all.WebAssembly.instantiateStreaming;
            delete all.Crypto.prototype.randomUUID;
            for (const name of ['isWellFormed', 'toWellFormed', 'at']) delete all.String.prototype[name];
            for (const name of ['at', 'findLast', 'toSorted', 'toReversed', 'toSpliced', 'with'])
                delete all.Array.prototype[name];
        };

        /** Replaces fetch() by a function that gives proxies instead of Responses. Runs in a page. */
        const patchFetch = () => {
            const native = globalThis.fetch;
            /** @type {any} */ (globalThis).fetch = async (/** @type {string} */ address) => {
                const response = await native(address);
                return new Proxy(response, {
                    get: (target, name) => {
                        const value = Reflect.get(target, name, target);
                        return typeof value === 'function' ? value.bind(target) : value;
                    },
                });
            };
        };

        for (const [what, prepare] of /** @type {[string, () => void][]} */ ([
            ['no functions but the necessary ones', takeAway],
            ['frozen intrinsics', freezeAll],
            ['a fetch() whose responses are proxies', patchFetch],
        ]))
            it(`a page with ${what} counts, locks and runs jobs`, async () => {
                const tab = await site.show(site.page(), prepare);
                assert.deepEqual(await tab.evaluate(useAll, `without ${what}`.slice(0, 30)), usedAll);
                const refused = await tab.evaluate(tryOpen, '');
                assert.match(refused, /^TabacusError invalid-argument: namespace must be/);
                assert.deepEqual(await tab.evaluate(uncaught), []);
                await tab.close();
            });

        it(
            'open() reports that there is no memory for another program',
            { skip: engine !== ENGINES.chromium },
            async () => {
                const tab = await site.show(site.page());
                const [failed, after] = await tab.evaluate(async () => {
                    const { outcome, tabacus } = /** @type {any} */ (globalThis);
                    /** @type {unknown[]} */
                    let memories = [];
                    try {
                        // Each memory takes addresses, until the process has none left.
                        for (;;) memories.push(new WebAssembly.Memory({ initial: 1, maximum: 65536 }));
                    } catch {
                        // All addresses are taken.
                    }
                    const failed = await outcome(() => tabacus.open({ namespace: 'memory' }));
                    memories = [];
                    return [failed, memories.length];
                });
                assert.match(
                    failed,
                    /^TabacusError out-of-memory: no memory for counters\.wasm.*close\(\) tabs/,
                );
                assert.equal(after, 0);
                await tab.close();
            },
        );

        it('open() accepts wasm that is served with the media type of bytes', async () => {
            const page = site.page();
            page.fail(/\.wasm$/, 'untyped');
            const tab = await site.show(page);
            assert.deepEqual(await tab.evaluate(useAll, 'untyped'), usedAll);
            await tab.close();
        });

        it('an error reports that a value cannot be stored without structuredClone', async () => {
            const tab = await site.show(site.page(), takeAway);
            const failed = await tab.evaluate(async () => {
                const { outcome, tabacus } = /** @type {any} */ (globalThis);
                const own = await tabacus.open({ namespace: 'clone' });
                return [
                    await outcome(() => own.queue('q').enqueue(new Map([[1, 2]]))),
                    await outcome(() =>
                        own
                            .lock('l')
                            .run((/** @type {any} */ held) =>
                                held.commit('s', (/** @type {any} */ tx) => tx.put('s', 'k', 1)),
                            ),
                    ),
                ];
            });
            for (const one of failed)
                assert.match(one, /^TabacusError unavailable: .* needs structuredClone/);
            await tab.close();
        });
    },
);
