/** The example of docs/locks.md: many tabs, one session, a provider that revokes it on any reuse. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Session } from '../../demo/session.js';
import { listen, TokenServer } from '../../web/token-server.js';
import { tabs } from './open-tabs.js';

/** @param {number} count */
async function sessions(count) {
    const tokens = new TokenServer();
    const server = await listen(tokens);
    // The requests go to a real server, for which a virtual clock would not wait.
    const { tabs: opened, close: closeTabs } = await tabs(count, {}, {}, { clock: 'real' });
    const all = opened.map((tab) => new Session(tab, server.url));
    await Promise.all(all.map((session) => session.login()));
    const close = async () => {
        await closeTabs();
        await server.close();
    };
    return { tokens, tabs: opened, sessions: all, close };
}

test('the provider rotates tokens, accepts the retry of a lost answer, and revokes the family on reuse', () => {
    const tokens = new TokenServer();
    const first = tokens.login();
    const lost = tokens.refresh(first.refresh);
    const second = tokens.refresh(first.refresh);
    assert.ok(lost && second && tokens.serve(second.access));
    assert.equal(tokens.refresh(lost.refresh), null, 'the tokens of the lost answer are void');
    const third = tokens.refresh(second.refresh);
    assert.ok(third && tokens.serve(third.access));
    assert.equal(tokens.refresh(first.refresh), null, 'reuse');
    assert.equal(tokens.serve(third.access), false, 'revokes all');
    assert.equal(tokens.refresh(third.refresh), null);
});

test('4 tabs with 10 requests each make exactly one refresh for each expiry, and nobody is logged out', async () => {
    const { tokens, sessions: all, close } = await sessions(4);
    for (let expiry = 1; expiry <= 3; expiry++) {
        tokens.expireAll();
        const requests = all.flatMap((session) =>
            Array.from({ length: 10 }, () => session.request('/resource')),
        );
        for (const response of await Promise.all(requests)) assert.equal(response.status, 200);
        assert.equal(tokens.log.refreshes, expiry);
    }
    assert.deepEqual([tokens.log.retries, tokens.log.revoked], [0, 0]);
    await close();
});

test('another tab refreshes if a tab closes between the rotation and its answer, and nobody is logged out', async () => {
    const {
        tokens,
        tabs: [first],
        sessions: all,
        close,
    } = await sessions(3);
    tokens.expireAll();
    /** @type {(value?: unknown) => void} */
    let rotated = () => {};
    const midway = new Promise((resolve) => (rotated = resolve));
    /** @type {(value?: unknown) => void} */
    let answer = () => {};
    tokens.beforeAnswer = () => new Promise((resolve) => ((answer = () => resolve(undefined)), rotated()));
    const dying = all[0]?.request('/resource').catch((error) => error.code);
    await midway;
    tokens.beforeAnswer = async () => {};
    const others = all.slice(1).map((session) => session.request('/resource'));
    await first.close();
    answer();
    assert.equal(await dying, 'lock-lost');
    for (const response of await Promise.all(others)) assert.equal(response.status, 200);
    assert.deepEqual([tokens.log.refreshes, tokens.log.retries, tokens.log.revoked], [1, 1, 0]);
    await close();
});
