/** Edge cases of locks, over emulated tabs: reports of holders, the tab of a held lock, names, errors in other tabs. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeadlockError, open, TabacusError, TabacusRangeError } from 'tabacus';
import TabsLock from 'tabacus/compat/browser-tabs-lock';
import { createLeaderElection } from 'tabacus/compat/leadership';
import { LockManager } from 'tabacus/compat/locks';
import { createOrigin } from 'tabacus/emulator';

/** @typedef {import('tabacus').Tab} Tab */

/** @param {(a: Tab, b: Tab, origin: import('tabacus/emulator').Origin) => Promise<void>} play @param {number} [seed] */
async function inTwoTabs(play, seed = 1) {
    const origin = await createOrigin({ seed });
    const [a, b] = await Promise.all([0, 1].map(() => open({ window: origin.openTab().window })));
    if (!a || !b) throw new Error('no tab');
    await play(a, b, origin);
    await Promise.all([a.close(), b.close()]);
    origin.close();
}

/** @param {string} code */
const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

/** @param {import('tabacus').LockRequestInfo[]} requests */
const holders = (requests) => requests.filter(({ state }) => state === 'held').map(({ label }) => label);

describe('edge cases of locks', { timeout: 120_000 }, () => {
    it('query() reports one exclusive holder, and none when nobody holds it', async () => {
        for (let seed = 1; seed <= 5; ++seed) {
            await inTwoTabs(async (a, b) => {
                await a
                    .lock('l')
                    .run((held) => held.commit('s', (tx) => tx.put('s', 'k', 1)), { label: 'a' });
                await b.lock('l').run(
                    async () => {
                        for (const tab of [a, b])
                            assert.deepEqual(holders(await tab.lock('l').query()), ['b']);
                    },
                    { label: 'b' },
                );
                for (const tab of [a, b]) assert.equal(await tab.lock('l').isLocked(), false);
            }, seed);
        }
    });

    it("query() for another tab's lock is answered by its holder, and waits for no other tab", () =>
        inTwoTabs(async (a, b, origin) => {
            const { performance } = origin.openTab().window;
            const held = await a.lock('l').acquire({ label: 'a' });
            const stop = b.lock('l').subscribe(() => {});
            await b.lock('l').query();
            const begin = performance.now();
            for (let i = 0; i < 10; ++i) assert.deepEqual(holders(await b.lock('l').query()), ['a']);
            assert.ok(
                performance.now() - begin < 50,
                'no query waits, on the virtual clock, for a tab that does not answer',
            );
            stop();
            held?.release();
        }));

    it('a value of `within` that is a lock of another tab is refused', () =>
        inTwoTabs(async (a, b) => {
            const [mine, theirs] = [await a.lock('x').acquire(), await b.lock('z').acquire()];
            await assert.rejects(
                a.lock('x').acquire({ within: /** @type {any} */ (theirs), timeout: 100 }),
                (/** @type {any} */ error) =>
                    error.code === 'invalid-argument' && error.argument === 'within',
            );
            mine?.release();
            theirs?.release();
        }));

    it('a name means the same lock in both interfaces, whatever its characters', () =>
        inTwoTabs(async (a, b) => {
            const manager = new LockManager(b);
            for (const name of ['plain', 'a\0b', 'a\uffffb', '\uffff0041']) {
                const held = await a.lock(name).acquire();
                assert.equal(await manager.request(name, { ifAvailable: true }, (lock) => lock), null, name);
                assert.deepEqual(
                    (await manager.query()).held.map((lock) => lock.name),
                    [name],
                );
                held?.release();
            }
        }));

    it('a commit that began before release() is made, and the next holder waits for it', () =>
        inTwoTabs(async (a, b) => {
            const held = await a.lock('l').acquire();
            const written = held?.commit('s', (tx) => tx.put('s', 'k', 1));
            held?.release();
            const seen = b.lock('l').run((next) => next.commit('s', (tx) => tx.get('s', 'k')));
            await written;
            assert.equal(await seen, 1);
            await assert.rejects(async () => held?.commit('s', () => {}), failsWith('lock-lost'));
        }));

    it('a commit uses the stores that were named, whatever is done to the array afterwards', () =>
        inTwoTabs(async (a) => {
            const stores = ['mine'];
            const written = a
                .lock('l')
                .run((held) =>
                    held.commit(stores, (tx) => tx.put(/** @type {string} */ (stores[0]), 'k', 1)),
                );
            await Promise.resolve();
            const changed = a.lock('m').run(async (held) => {
                const names = ['mine'];
                const commit = held.commit(names, (tx) => tx.put(/** @type {string} */ (names[0]), 'k', 1));
                names[0] = 'tabacus/x';
                await commit;
            });
            await written;
            await assert.rejects(changed, TabacusError);
        }));

    it('the message of a deadlock has the labels of the holders', () =>
        inTwoTabs(async (a, b) => {
            const [one, two] = [
                await a.lock('d1').acquire({ label: 'one' }),
                await b.lock('d2').acquire({ label: 'two' }),
            ];
            const ends = await Promise.allSettled([
                a
                    .lock('d2')
                    .acquire({ within: one ?? undefined })
                    .finally(() => one?.release()),
                b
                    .lock('d1')
                    .acquire({ within: two ?? undefined })
                    .finally(() => two?.release()),
            ]);
            const [failed] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
            assert.ok(failed instanceof DeadlockError);
            assert.match(failed.message, /'one' waits for 'd2'/);
            assert.match(failed.message, /'two' waits for 'd1'/);
        }));

    it('a later change of the request of a leader call, or of its options, has no effect', () =>
        inTwoTabs(async (a, b) => {
            const led = a
                .leader('x')
                .run((term) => term.answer((request) => request.n), { signal: AbortSignal.timeout(60_000) });
            const request = { n: 1 };
            const options = /** @type {any} */ ({});
            const answer = b.leader('x').call(request, options);
            request.n = 2;
            options.timeout = 'none';
            assert.equal(await answer, 1);
            led.catch(() => {});
        }));

    it('errors of tabacus arrive in other tabs with their class and properties, and undefined as undefined', () =>
        inTwoTabs(async (a, b) => {
            /** @param {string} key @param {unknown} thrown @returns {Promise<any>} what the other tab gets */
            const across = async (key, thrown) => {
                const fails = () => Promise.reject(thrown);
                const both = await Promise.allSettled([a.once(key, fails), b.once(key, fails)]);
                return both.map((end) => (end.status === 'rejected' ? end.reason : 'nothing'));
            };
            const details = { argument: 'n', allowed: 'less' };
            for (const error of await across('range', new TabacusRangeError('far', details))) {
                assert.ok(error instanceof TabacusRangeError);
                assert.deepEqual(
                    [error.code, error.message, error.argument, error.allowed],
                    ['out-of-range', 'far', 'n', 'less'],
                );
            }
            for (const error of await across('dead', new DeadlockError('a cycle')))
                assert.ok(error instanceof DeadlockError);
            assert.deepEqual(await across('nothing', undefined), [undefined, undefined]);
            assert.deepEqual(await across('null', null), [null, null]);
        }));
});

it('a steal notifies the previous holder in the same page', async () => {
    const tab = await open({ allowWeaker: true });
    const previous = await tab.lock('a').acquire({ label: 'previous' });
    const stealer = await tab.lock('a').acquire({ steal: true, label: 'stealer' });
    assert.deepEqual([previous?.held, previous?.signal.aborted, stealer?.held], [false, true, true]);
    assert.deepEqual(holders(await tab.lock('a').query()), ['stealer']);
    stealer?.release();
    const third = await tab.lock('a').acquire({ ifAvailable: true });
    assert.ok(third);
    third?.release();
    await tab.close();
});

it('without Web Locks nobody waits for a tab that was left, and its departures are removed', async () => {
    for (const leave of /** @type {const} */ (['bfcache', 'freeze', 'close'])) {
        const origin = await createOrigin({ url: 'http://plain.test/', seed: 1 });
        const [first, second] = [origin.openTab(), origin.openTab()];
        const { localStorage } = second.window;
        localStorage.setItem('tabacus/default/gone/never asked for again/1', '1000');
        const a = await open({ window: first.window });
        const b = await open({ window: second.window });
        await b.lock('other').run(() => {}); // the tab has a channel, and has not requested `l`
        await a.lock('l').acquire();
        await first[leave]();
        const c = await open({ window: origin.openTab().window });
        await c.lock('other').run(() => {});
        const { performance } = origin.openTab().window;
        for (const tab of [c, b]) {
            const begin = performance.now();
            await tab.lock('l').run(() => {});
            assert.ok(
                performance.now() - begin < 1_000,
                `${leave}: ${performance.now() - begin} ms on the virtual clock`,
            );
        }
        assert.deepEqual(
            Object.keys(localStorage).filter((key) => key.includes('/gone/')),
            [],
            leave,
        );
        origin.close();
    }
});

it('a watcher is notified of a holder that died right after the grant', { timeout: 60_000 }, async () => {
    for (let seed = 1; seed <= 5; ++seed) {
        const origin = await createOrigin({ seed });
        const [first, second] = [origin.openTab(), origin.openTab()];
        const a = await open({ window: first.window });
        const b = await open({ window: second.window });
        /** @type {string[][]} */
        const received = [];
        const stop = b.lock('l').subscribe((requests) => received.push(holders(requests)));
        await b.lock('l').query();
        await a.lock('l').acquire({ label: 'a' });
        const { performance } = second.window;
        const later = () => new Promise((resolve) => second.window.setTimeout(resolve, 5));
        while (received.at(-1)?.[0] !== 'a') await later();
        first.kill();
        const end = performance.now() + 3_000;
        while (performance.now() < end) await later();
        assert.deepEqual(received.at(-1), [], `seed ${seed}: ${JSON.stringify(received)}`);
        stop();
        origin.close();
    }
});

describe('objects that take a tab of the caller’s', () => {
    it('a value that is no tab is refused at once, and a promise of one when it is used', async () => {
        for (const given of /** @type {any[]} */ ([{}, 'tab', 5, [], new EventTarget()])) {
            const refused = (/** @type {any} */ error) =>
                failsWith('invalid-argument')(error) && error.argument === 'tab';
            assert.throws(() => new LockManager(given), refused);
            assert.throws(() => new TabsLock(undefined, { tab: given }), refused);
            assert.throws(() => createLeaderElection({ name: 'n' }, { tab: given }), refused);
        }
        const late = new LockManager(/** @type {any} */ (Promise.resolve({})));
        await assert.rejects(
            late.request('n', () => {}),
            /tab that open\(\) returned/,
        );
    });
});
