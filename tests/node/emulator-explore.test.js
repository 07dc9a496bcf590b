/** Explorations of JavaScript scenarios: what they find, that a found run repeats, and what their reports contain. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explore, replay } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Scenario} Scenario */

/** A Web Lock around localStorage, as every tutorial writes it. @type {Scenario} */
const locked = async ({ window: { navigator, localStorage } }) => {
    await navigator.locks.request('n', () =>
        localStorage.setItem('n', String(Number(localStorage.getItem('n')) + 1)),
    );
};

/** @param {number} wanted */
const counts =
    (wanted) =>
    (/** @type {import('tabacus/emulator').InvariantContext} */ { origin }) => {
        const n = Number(origin.openTab().window.localStorage.getItem('n'));
        return n === wanted || `${wanted - n} of ${wanted} updates are lost`;
    };

describe('explore', () => {
    it('an exploration finds the lost update of a lock around cached storage, and the failing run is short and repeats', async () => {
        const options = { invariant: counts(2) };
        const report = await explore(locked, options);
        assert.equal(report.verdict, 'broken');
        assert.equal(report.failure, '1 of 2 updates are lost');
        const schedule = report.schedule ?? [];
        assert.equal(
            schedule.filter((index) => index > 0).length,
            1,
            'one departure from the default schedule is enough',
        );
        assert.match(report.trace ?? '', /tab 1 +writes n = 1[^]*tab 2 +reads n: nothing/);
        assert.match(report.svg ?? '', /^<svg [^]*tab 2[^]*<\/svg>/);
        const again = await replay(locked, { seed: Number(report.seed), schedule }, options);
        assert.deepEqual([again.verdict, again.trace, again.svg], ['broken', report.trace, report.svg]);
    });

    it('an exploration finds nothing where storage is shared, and a thousand seeds have the same hash twice', async () => {
        const options = {
            storage: /** @type {const} */ ('interleaved'),
            seeds: 1000,
            exhaust: 0,
            invariant: counts(2),
        };
        const [first, second] = [await explore(locked, options), await explore(locked, options)];
        assert.deepEqual([first.verdict, first.seeds], ['unbroken within the bound', 1000]);
        assert.deepEqual(second, first);
        const [some, others] = [
            await explore(locked, { ...options, seeds: [1, 2, 3] }),
            await explore(locked, { ...options, seeds: [4, 5, 6] }),
        ];
        assert.notEqual(others.hash, some.hash);
    });

    it('a deadlock is reported as tabs that wait for ever', async () => {
        const report = await explore(async ({ window: { navigator } }, { index }) => {
            const [first, second] = index === 0 ? ['a', 'b'] : ['b', 'a'];
            await navigator.locks.request(first, () => navigator.locks.request(second, () => {}));
        });
        assert.equal(report.failure, 'tab 1 and tab 2 wait for ever');
    });

    it('an error that a tab throws in a check-then-act over timers is a failure', async () => {
        const report = await explore(async ({ window }) => {
            window.localStorage.setItem(
                'leader',
                window.localStorage.getItem('leader') ?? window.crypto.randomUUID(),
            );
            const mine = window.localStorage.getItem('leader');
            await new Promise((resolve) => window.setTimeout(resolve, 50));
            if (window.localStorage.getItem('leader') !== mine) throw new Error('two leaders');
        });
        assert.match(report.failure, /^tab [12]: Error: two leaders$/);
    });

    it('an exception in a listener is a failure, unless the window handles its error event', async () => {
        /** @type {(handles: boolean) => Scenario} */
        const throwing =
            (handles) =>
            async ({ window }) => {
                if (handles)
                    window.addEventListener('error', (/** @type {any} */ event) => event.preventDefault());
                const handled = new Promise((resolve) =>
                    window.addEventListener('storage', () => {
                        resolve(undefined);
                        throw new RangeError('of a listener');
                    }),
                );
                await Promise.race([handled, new Promise((resolve) => window.setTimeout(resolve, 10))]);
                window.localStorage.setItem('k', window.crypto.randomUUID());
            };
        assert.equal(
            (await explore(throwing(false), { seeds: 20 })).failure,
            'uncaught: RangeError: of a listener',
        );
        assert.equal((await explore(throwing(true), { seeds: 20 })).verdict, 'unbroken within the bound');
        const unprintable = Object.create(null);
        assert.equal(
            (await explore(({ window }) => window.reportError(unprintable), { seeds: 1 })).failure,
            'uncaught: [object Object]',
        );
        assert.equal(
            (await explore(() => Promise.reject(unprintable), { seeds: 1 })).failure,
            'tab 1: [object Object]',
        );
    });

    it('every fault happens in some run, and the report counts it', async () => {
        const { faults: all } = await import('tabacus/emulator');
        /** @type {Scenario} */
        const scenario = async ({ window }) => {
            const channel = new window.BroadcastChannel('n');
            for (let at = 0; at < 3; ++at) {
                try {
                    window.localStorage.setItem('k', `${at}`);
                } catch (error) {
                    if (/** @type {DOMException} */ (error).name !== 'QuotaExceededError') throw error;
                }
                channel.postMessage(at);
                try {
                    await window.navigator.locks.request(
                        'l',
                        () => new Promise((resolve) => window.setTimeout(resolve, 5)),
                    );
                } catch (error) {
                    if (/** @type {DOMException} */ (error).name !== 'SecurityError') throw error;
                }
            }
        };
        const survived = all.filter((fault) => fault !== 'orphaned-lock');
        const report = await explore(scenario, { faults: survived, faultBudget: 3, seeds: 300 });
        assert.deepEqual([report.verdict, report.failure], ['unbroken within the bound', '']);
        assert.deepEqual(Object.keys(report.faults).sort(), survived.sort());
        const { failure } = await explore(scenario, { faults: ['orphaned-lock'], seeds: 50 });
        assert.match(failure, /waits for ever/);
    });

    it('half a transfer that a killed holder leaves is found with the fault `kill`, and not without', async () => {
        /** @type {Scenario} */
        const transfer = async ({ window: { navigator, localStorage, setTimeout } }) => {
            await navigator.locks.request('accounts', async () => {
                assert.equal(
                    Number(localStorage.getItem('a')) + Number(localStorage.getItem('b')),
                    0,
                    'money is lost',
                );
                localStorage.setItem('a', String(Number(localStorage.getItem('a')) - 1));
                await new Promise((resolve) => setTimeout(resolve, 1));
                localStorage.setItem('b', String(Number(localStorage.getItem('b')) + 1));
            });
        };
        const options = { storage: /** @type {const} */ ('mutexed'), seeds: 200 };
        assert.equal((await explore(transfer, options)).verdict, 'unbroken within the bound');
        const report = await explore(transfer, { ...options, faults: ['kill'] });
        assert.match(report.failure, /money is lost/);
        assert.match(report.trace ?? '', /dies/);
    });

    it('an invariant that waits for ever or throws an empty text is broken, and one that waits for the host or for time is not', async (t) => {
        const options = { seeds: 2 };
        const invariant = () => {
            throw ''; // eslint-disable-line no-throw-literal
        };
        assert.equal((await explore(() => {}, { ...options, invariant })).verdict, 'broken');
        /** @type {((context: import('tabacus/emulator').InvariantContext) => unknown)[]} */
        const patient = [
            () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
            ({ origin }) => new Promise((resolve) => origin.openTab().window.setTimeout(resolve, 1e6)),
        ];
        for (const invariant of patient)
            assert.equal((await explore(() => {}, { ...options, invariant })).failure, '');
        t.mock.timers.enable({ apis: ['setTimeout'] });
        const tick = () => {
            t.mock.timers.tick(1000);
            ticking = setImmediate(tick);
        };
        let ticking = setImmediate(tick);
        const report = await explore(() => {}, { ...options, invariant: () => new Promise(() => {}) });
        assert.deepEqual([report.failure, report.seed], ['the invariant waits for ever', 1]);
        const stuck = await explore(
            ({ window }) => void window.navigator.locks.request('l', () => new Promise(() => {})),
            {
                ...options,
                invariant: (/** @type {import('tabacus/emulator').InvariantContext} */ { origin }) =>
                    origin.openTab().window.navigator.locks.request('l', () => {}),
            },
        );
        assert.equal(stuck.failure, 'the invariant waits for ever');
        clearImmediate(ticking);
    });

    it('a signal ends an exploration in the invariant, amid a run, and while it shrinks a schedule', async () => {
        const reason = new Error('enough');
        /** @param {(abort: () => void) => [Scenario, object]} made */
        const aborted = (made) => {
            const controller = new AbortController();
            const [scenario, options] = made(() => controller.abort(reason));
            return assert.rejects(
                explore(scenario, { seeds: 50, ...options, signal: controller.signal }),
                reason,
            );
        };
        await aborted((abort) => [() => {}, { invariant: () => (abort(), new Promise(() => {})) }]);
        let runs = 0;
        await aborted((abort) => [
            ({ window }) => new Promise(() => window.setInterval(() => ++runs === 50 && abort(), 1)),
            {},
        ]);
        assert.ok(runs < 100);
        let failures = 0;
        await aborted((abort) => [
            locked,
            {
                invariant: (/** @type {import('tabacus/emulator').InvariantContext} */ { origin }) => {
                    const lost = origin.openTab().window.localStorage.getItem('n') !== '2';
                    if (lost && ++failures === 2) abort();
                    return !lost;
                },
            },
        ]);
        assert.equal(failures, 2);
    });

    it('a replay reports its faults', async () => {
        /** @type {Scenario} */
        const scenario = async ({ window }) => {
            for (let at = 0; at < 3; ++at) await new Promise((resolve) => window.setTimeout(resolve, 1));
        };
        const options = {
            faults: /** @type {const} */ (['kill']),
            invariant: (/** @type {import('tabacus/emulator').InvariantContext} */ { tabs }) =>
                tabs.every(({ closed }) => !closed),
        };
        const report = await explore(scenario, options);
        assert.deepEqual(
            [report.verdict, (await replay(scenario, report, options)).faults],
            ['broken', { kill: 1 }],
        );
    });

    it('a trace has one line for each event, whatever its keys, messages and failures contain, and a long text is cut', async () => {
        /** @type {(text: string) => Scenario} */
        const reads =
            (text) =>
            async ({ window }) => {
                window.localStorage.getItem(`k${text}`);
                new window.BroadcastChannel('n').postMessage(`m${text}`);
            };
        const lines = async (/** @type {string} */ text) => {
            const { trace = '' } = await explore(reads(text), {
                seeds: 1,
                tabs: 1,
                invariant: () => `it${text}`,
            });
            return trace.split('\n').map((line) => line.length);
        };
        const plain = await lines('x');
        assert.equal((await lines('\n\u2028\r')).length, plain.length);
        const long = await lines('x'.repeat(5000));
        assert.equal(long.filter((length) => length > 5000).length, 1, 'the failure');
    });

    it('`complaint`, the deprecated name of `failure`, has the same value in every report', async () => {
        const found = await explore(locked, { invariant: counts(2) });
        const again = await replay(locked, found, { invariant: counts(2) });
        const unbroken = await explore(locked, { seeds: 1 });
        assert.notEqual(found.failure, '');
        assert.equal(unbroken.failure, '');
        for (const { failure, complaint } of [found, again, unbroken]) assert.equal(complaint, failure);
    });

    it('a scenario may be a script, and anything that is no scenario is refused', async () => {
        const report = await explore('navigator.locks.request("l", () => localStorage.setItem("k", 1))', {
            seeds: 5,
            tabs: 3,
        });
        assert.equal(report.seeds, 5);
        for (const [argument, options] of Object.entries({
            seeds: { seeds: -1 },
            tabs: { tabs: 0 },
            faults: { faults: ['flood'] },
            invariant: { invariant: 1 },
        })) {
            await assert.rejects(
                explore(locked, /** @type {any} */ (options)),
                (/** @type {any} */ error) =>
                    error.code === 'invalid-argument' && error.argument === argument,
            );
        }
        await assert.rejects(explore(/** @type {any} */ (5)), { code: 'invalid-argument' });
        await assert.rejects(explore(locked, { signal: AbortSignal.abort(new Error('enough')) }), /enough/);
    });
});
