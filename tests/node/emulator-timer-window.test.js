/** `timerWindow`: how far timers may overtake what is under way in an exploration. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explore, replay } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Tab} Tab */
/** @typedef {import('tabacus/emulator').Scenario} Scenario */

const day_ms = 24 * 60 * 60 * 1000;

/** Each begins something that is then under way, and returns a promise of its arrival. */
const events = /** @type {Record<string, (tab: Tab) => Promise<unknown>>} */ ({
    'a message of a channel': async ({ window: { BroadcastChannel } }) => {
        const [from, to] = [new BroadcastChannel('c'), new BroadcastChannel('c')];
        from.postMessage('m');
        await new Promise((resolve) => (to.onmessage = resolve));
    },
    'a message of a port': async ({ window }) => {
        const { port1, port2 } = new window.MessageChannel();
        port1.postMessage('m');
        await new Promise((resolve) => (port2.onmessage = resolve));
    },
    'the grant of a lock': ({ window: { navigator } }) => navigator.locks.request('l', () => {}),
    'a storage event': async (tab) => {
        tab.openFrame().window.localStorage.setItem(`k${tab.number}`, 'v');
        await new Promise((resolve) => tab.window.addEventListener('storage', resolve));
    },
    'a task of a message': async ({ window }) => {
        window.postMessage('m');
        await new Promise((resolve) => window.addEventListener('message', resolve));
    },
    'a request of a database': async ({ window }) => {
        const request = window.indexedDB.open('d');
        request.onupgradeneeded = () => request.result.createObjectStore('s');
        const database = /** @type {any} */ (
            await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)))
        );
        const read = database.transaction('s').objectStore('s').get(1);
        await new Promise((resolve) => (read.onsuccess = resolve));
    },
});

/** Throws if a timer fires before the event. @type {(event: (tab: Tab) => Promise<unknown>, delay_ms: number) => Scenario} */
const overtaking = (event, delay_ms) => async (tab) => {
    const timer = new Promise((_, reject) =>
        tab.window.setTimeout(() => reject(new Error('overtaken')), delay_ms),
    );
    await Promise.race([event(tab), timer]);
};

const message = events['a message of a channel'];

/** Whether some seed finds that the timer overtakes a message. @param {number} delay_ms @param {object} options */
const overtakes = async (delay_ms, options = {}) => {
    const scenario = overtaking(/** @type {any} */ (message), delay_ms);
    const { failure } = await explore(scenario, { tabs: 1, seeds: 40, ...options });
    assert.match(failure, /^(tab 1: Error: overtaken)?$/);
    return failure !== '';
};

describe('timerWindow', () => {
    for (const [name, event] of Object.entries(events)) {
        it(`a timer of 11 days does not overtake ${name}, unless the window is infinite`, async () => {
            const scenario = overtaking(event, 11 * day_ms);
            assert.equal((await explore(scenario, { seeds: 40 })).failure, '');
            const all = await explore(scenario, { seeds: 40, timerWindow: Infinity });
            // Time stands still while a transaction is open.
            const stands = event === events['a request of a database'];
            assert.match(all.failure, stands ? /^$/ : /^tab [12]: Error: overtaken$/);
        });
    }

    it('a timer that is due within the window overtakes, and a later one does not', async () => {
        assert.deepEqual(
            [await overtakes(1), await overtakes(1000), await overtakes(1001)],
            [true, true, false],
        );
        const timerWindow = 50;
        assert.deepEqual(
            [await overtakes(50, { timerWindow }), await overtakes(51, { timerWindow })],
            [true, false],
        );
    });

    it('time passes only when nothing else can happen if the window is 0', async () => {
        assert.deepEqual(
            [await overtakes(0, { timerWindow: 0 }), await overtakes(1, { timerWindow: 0 })],
            [false, false],
        );
    });

    it('a chain of short timers does not overtake for longer than the window', async () => {
        /** @param {number | undefined} timerWindow */
        const mostTicks = async (timerWindow) => {
            let most = 0;
            const scenario = async (/** @type {Tab} */ tab) => {
                let ticks = 0;
                const interval = tab.window.setInterval(() => (most = Math.max(most, ++ticks)), 400);
                await message?.(tab);
                tab.window.clearInterval(interval);
            };
            await explore(scenario, { tabs: 1, seeds: 200, ...(timerWindow && { timerWindow }) });
            return most;
        };
        assert.equal(await mostTicks(undefined), 2);
        assert.ok((await mostTicks(Infinity)) > 2);
    });

    it('what waits for a frozen tab does not hold time up', async () => {
        /** @type {Scenario} */
        const scenario = async (tab, { index, tabs }) => {
            const { BroadcastChannel, setTimeout } = tab.window;
            const channel = new BroadcastChannel('frozen');
            if (index === 0) return;
            tabs[0]?.freeze();
            channel.postMessage('waits');
            await new Promise((resolve) => setTimeout(resolve, day_ms));
            await overtaking(/** @type {any} */ (message), 500)(tab, /** @type {any} */ ({}));
        };
        assert.match((await explore(scenario, { seeds: 60 })).failure, /^tab 2: Error: overtaken$/);
    });

    it('a time-out of days ends the wait for a lock that is held for longer', async () => {
        /** @type {Scenario} */
        const scenario = async ({ window }) => {
            const { AbortSignal, navigator, setTimeout } = window;
            void navigator.locks.request(
                'l',
                () => new Promise((resolve) => setTimeout(resolve, 12 * day_ms)),
            );
            const signal = AbortSignal.timeout(11 * day_ms);
            await assert.rejects(
                navigator.locks.request('l', { signal }, () => {}),
                { name: 'TimeoutError' },
            );
        };
        assert.equal((await explore(scenario, { tabs: 1, seeds: 20 })).failure, '');
    });

    it('a broken run replays with its window, and equal explorations are equal', async () => {
        const scenario = overtaking(/** @type {any} */ (message), 40);
        const options = { tabs: 2, seeds: 40, timerWindow: 50 };
        const report = await explore(scenario, options);
        assert.equal(report.verdict, 'broken');
        assert.deepEqual(await explore(scenario, options), report);
        assert.equal((await replay(scenario, report, options)).failure, report.failure);
    });

    it('a window that is no number from 0 to Infinity is refused', async () => {
        for (const timerWindow of [-1, NaN, '5', null, -Infinity, 1n]) {
            const options = /** @type {any} */ ({ timerWindow });
            const refused = { code: 'invalid-argument', argument: 'timerWindow' };
            await assert.rejects(
                explore(() => {}, options),
                refused,
            );
            await assert.rejects(
                replay(() => {}, { seed: 1, schedule: [] }, options),
                refused,
            );
        }
    });
});
