/**
 * The service worker and the page that registers it, each run in a sandbox of stand-ins. The tests check the answers
 * and the order of calls, but not whether a browser isolates the page.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';

import { isolate } from '../../web/isolation.js';

const SOURCE = new URL('../../web/isolation-worker.js', import.meta.url);
const ORIGIN = 'https://page.example';

/**
 * @param {() => Promise<any>} fetch  the network
 * @returns {Promise<{ calls: string[], dispatch: (type: string, request?: object) => Promise<any> }>}
 *     `dispatch` resolves with the answer of the worker, or with the result that it waited for, or else with undefined
 */
async function startWorker(fetch) {
    /** @type {Record<string, (event: object) => void>} */
    const listeners = {};
    /** @type {string[]} */
    const calls = [];
    const self = {
        addEventListener: (/** @type {string} */ type, /** @type {any} */ fn) => (listeners[type] = fn),
        skipWaiting: () => calls.push('skipWaiting'),
        clients: { claim: async () => calls.push('claim') },
        location: { origin: ORIGIN },
    };
    runInNewContext(await readFile(SOURCE, 'utf8'), { self, fetch, Headers, Response, URL });
    return {
        calls,
        async dispatch(type, request) {
            let answer;
            const keep = (/** @type {any} */ value) => (answer = value);
            listeners[type]?.({ request, respondWith: keep, waitUntil: keep });
            return answer;
        },
    };
}

const request = { url: `${ORIGIN}/index.html`, cache: 'default', mode: 'navigate' };

describe('the service worker', () => {
    it('the worker activates without waiting, and then claims the open pages', async () => {
        const { calls, dispatch } = await startWorker(async () => new Response());
        await dispatch('install');
        await dispatch('activate');
        assert.deepEqual(calls, ['skipWaiting', 'claim']);
    });

    it('the worker adds the headers, and keeps the status, the body and other headers', async () => {
        const headers = { 'Content-Type': 'text/html', 'X-Other': 'kept' };
        const { dispatch } = await startWorker(
            async () => new Response('gone', { status: 404, statusText: 'Nope', headers }),
        );
        const answer = await dispatch('fetch', request);
        assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin');
        assert.equal(answer.headers.get('cross-origin-embedder-policy'), 'require-corp');
        assert.equal(answer.headers.get('x-other'), 'kept');
        assert.equal(answer.status, 404);
        assert.equal(answer.statusText, 'Nope');
        assert.equal(await answer.text(), 'gone');
    });

    it('the worker passes on an answer that must not have a body', async () => {
        const { dispatch } = await startWorker(async () => new Response(null, { status: 304 }));
        assert.equal((await dispatch('fetch', request)).status, 304);
    });

    it('the worker passes opaque answers on as they are', async () => {
        const opaque = { status: 0 };
        const { dispatch } = await startWorker(async () => opaque);
        assert.equal(await dispatch('fetch', request), opaque);
    });

    it('the worker leaves requests for other origins to the browser', async () => {
        const { dispatch } = await startWorker(() => assert.fail('fetched'));
        const other = { ...request, url: 'https://other.example/x.js' };
        assert.equal(await dispatch('fetch', other), undefined);
    });

    it('the worker leaves the only-if-cached requests of the developer tools to the browser', async () => {
        const { dispatch } = await startWorker(() => assert.fail('fetched'));
        const cached = { ...request, cache: 'only-if-cached', mode: 'no-cors' };
        assert.equal(await dispatch('fetch', cached), undefined);
    });
});

describe('isolate()', () => {
    /** @type {string[]} */
    let done;
    /** @type {Map<string, string>} */
    let session;

    /** @param {{ isolated?: boolean, workers?: boolean, controlled?: boolean, active?: boolean }} page */
    function stage({ isolated = false, workers = true, controlled = false, active = false } = {}) {
        const container = Object.assign(new EventTarget(), {
            controller: controlled ? {} : null,
            async register(/** @type {string} */ url) {
                done.push(`register ${url}`);
                if (!active) setImmediate(claim);
                return { active: active ? {} : null };
            },
        });
        const claim = () => {
            done.push('claimed');
            container.dispatchEvent(new Event('controllerchange'));
        };
        put('crossOriginIsolated', isolated);
        put('navigator', { serviceWorker: workers ? container : undefined });
    }

    /** @param {string} name @param {unknown} value */
    function put(name, value) {
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }

    beforeEach(() => {
        done = [];
        session = new Map();
        put('sessionStorage', {
            getItem: (/** @type {string} */ key) => session.get(key) ?? null,
            setItem: (/** @type {string} */ key, /** @type {string} */ value) => session.set(key, value),
        });
        put('location', { reload: () => done.push('reload') });
    });
    afterEach(() => {
        for (const name of ['crossOriginIsolated', 'navigator', 'sessionStorage', 'location']) {
            Reflect.deleteProperty(globalThis, name);
        }
    });

    it('an isolated page registers no worker', async () => {
        stage({ isolated: true });
        assert.equal(await isolate('/w.js'), 'isolated');
        assert.deepEqual(done, []);
    });

    it('isolate() reports a browser without service workers', async () => {
        stage({ workers: false });
        assert.equal(await isolate('/w.js'), 'unavailable');
    });

    it('the page reloads only after the worker controls it', async () => {
        stage();
        assert.equal(await isolate('/w.js'), 'reloading');
        assert.deepEqual(done, ['register /w.js', 'claimed', 'reload']);
    });

    it('the page does not wait for a worker that is already active', async () => {
        stage({ active: true });
        assert.equal(await isolate('/w.js'), 'reloading');
        assert.deepEqual(done, ['register /w.js', 'reload']);
    });

    it('the page does not reload again if a reload did not isolate it', async () => {
        stage();
        await isolate('/w.js');
        done = [];
        stage({ controlled: true });
        assert.equal(await isolate('/w.js'), 'refused');
        assert.deepEqual(done, []);
    });
});
