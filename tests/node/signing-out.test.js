/** The recipe of docs/signing-out.md on the emulator: its steps at any moment, also while a refresh is under way. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { open } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';

const page = readFileSync(new URL('../../docs/signing-out.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```(?:js|javascript)\n([^]*?)```/g)].map(([, block = '']) => block);
const recipe = blocks.find((block) => block.includes('export async function session')) ?? '';

/**
 * Begins the session of a tab.
 *
 * @param {any} window
 * @param {() => Promise<string>} refresh
 * @param {() => Promise<unknown>} clear
 * @returns {Promise<{ token: () => Promise<string>, signOut: () => Promise<void>, reloads: () => number }>}
 */
async function begin(window, refresh, clear) {
    let reloads = 0;
    const location = { reload: () => void reloads++ };
    const source = `${recipe.replace(/^import.*$/m, '').replace('export ', '')}\nreturn session;`;
    // eslint-disable-next-line no-new-func -- the recipe is text of a document
    const make = new Function('open', 'BroadcastChannel', 'location', 'AbortController', source);
    const session = make(
        (/** @type {object} */ options) => open({ ...options, window }),
        window.BroadcastChannel,
        location,
        AbortController,
    );
    return { ...(await session(refresh, clear)), reloads: () => reloads };
}

/** What token() may reject with while the user signs out: an abort, or what a close and a clearing end calls with. */
const ends = ['AbortError', 'closed', 'lock-lost'];

test('after a sign-out at any moment no tab has a token, none refreshes, and every tab reloads', async () => {
    for (let seed = 1; seed <= 24; seed++) {
        const origin = await createOrigin({ seed });
        const moment_ms = (seed * 2_654_435_761) % 6_000;
        const refresh_ms = (seed * 40_503) % 5_000;
        const windows = [1, 2, 3].map(() => origin.openTab().window);
        /** @param {number} delay_ms */
        const sleep = (delay_ms) => new Promise((resolve) => windows[0].setTimeout(resolve, delay_ms));
        let refreshes = 0;
        const refresh = async () => {
            const number = ++refreshes;
            await sleep(refresh_ms);
            return `SECRET ${number}`;
        };
        const clear = async () => origin.clearSiteData();
        const sessions = await Promise.all(windows.map((window) => begin(window, refresh, clear)));
        const tokens = sessions.map((one) =>
            one.token().catch((error) => (typeof error.code === 'string' ? error.code : error.name)),
        );
        await sleep(moment_ms);
        await sessions[seed % 3]?.signOut();
        for (const token of await Promise.all(tokens)) {
            assert.ok(token === 'SECRET 1' || ends.includes(token), `${seed}: ${token}`);
        }
        await origin.settled();
        const before = refreshes;
        for (const one of sessions) {
            assert.ok(one.reloads() > 0, inspect(seed));
            await assert.rejects(one.token(), { name: 'AbortError' });
        }
        assert.equal(refreshes, before);
        const next = await begin(origin.openTab().window, refresh, clear);
        assert.equal(await next.token(), `SECRET ${before + 1}`);
        origin.close();
    }
});

test('a sign-out whose forget() fails ends the session on the server, and reloads every tab', async () => {
    const origin = await createOrigin({ seed: 1 });
    const [tab, other] = [origin.openTab(), origin.openTab()];
    const refresh = async () => 'SECRET';
    let clears = 0;
    const clear = async () => {
        clears++;
        throw new Error('no network');
    };
    const sessions = await Promise.all([tab, other].map(({ window }) => begin(window, refresh, clear)));
    for (const one of sessions) assert.equal(await one.token(), 'SECRET');
    origin.breakDatabase(tab, 'hang-transaction');
    await assert.rejects(async () => sessions[0]?.signOut(), { message: 'no network' });
    await origin.settled();
    assert.equal(clears, 1);
    for (const one of sessions) {
        assert.ok(one.reloads() > 0);
        await assert.rejects(one.token(), { name: 'AbortError' });
    }
    origin.close();
});
