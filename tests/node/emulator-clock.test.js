/** The emulator's clock, its timers and its random numbers. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

/**
 * Returns when timers of 1 ms fire, in seconds, each of which sets the next one.
 *
 * @param {any} window
 * @param {number} count
 * @returns {Promise<number[]>}
 */
const chained = (window, count) =>
    new Promise((resolve) => {
        /** @type {number[]} */
        const at_s = [];
        const next = () => {
            at_s.push(window.Date.now() / 1_000);
            if (at_s.length < count) window.setTimeout(next, 1);
            else resolve(at_s);
        };
        window.setTimeout(next, 1);
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

    it('nested timers are clamped to 4 ms, and to whole minutes in a throttled tab, whose others fire at whole seconds, and a busy loop sees the time pass', async () => {
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
        assert.equal(tab.window.Date.now() % 1_000, 0);
        const at_s = await chained(tab.window, 7); // the first of them is the second of the chain
        const first_s = at_s[0] ?? 0;
        const minute_s = Math.ceil((first_s + 3.001) / 60) * 60;
        assert.deepEqual(at_s, [
            ...[0, 1, 2, 3].map((later_s) => first_s + later_s),
            ...[0, 60, 120].map((later_s) => minute_s + later_s),
        ]);
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
        assert.equal(window.Date.now() % 1_000, 0);
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
