/**
 * The service worker and the page that asks for it, each run in a sandbox of stand-ins: what they
 * do with answers and in which order, not whether a browser then isolates the page.
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
 *     `dispatch` resolves with what the worker answered or waited for, undefined for neither
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
    it('takes over at once: no waiting, then the open pages', async () => {
        const { calls, dispatch } = await startWorker(async () => new Response());
        await dispatch('install');
        await dispatch('activate');
        assert.deepEqual(calls, ['skipWaiting', 'claim']);
    });

    it('adds the headers and keeps status, body and other headers', async () => {
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

    it('passes on an answer that must not have a body', async () => {
        const { dispatch } = await startWorker(async () => new Response(null, { status: 304 }));
        assert.equal((await dispatch('fetch', request)).status, 304);
    });

    it('passes opaque answers on as they are', async () => {
        const opaque = { status: 0 };
        const { dispatch } = await startWorker(async () => opaque);
        assert.equal(await dispatch('fetch', request), opaque);
    });

    it('leaves other origins to the browser', async () => {
        const { dispatch } = await startWorker(() => assert.fail('fetched'));
        const other = { ...request, url: 'https://other.example/x.js' };
        assert.equal(await dispatch('fetch', other), undefined);
    });

    it('leaves devtools’ only-if-cached requests to the browser', async () => {
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

    it('registers nothing where the page is isolated', async () => {
        stage({ isolated: true });
        assert.equal(await isolate('/w.js'), 'isolated');
        assert.deepEqual(done, []);
    });

    it('reports where there are no service workers', async () => {
        stage({ workers: false });
        assert.equal(await isolate('/w.js'), 'unavailable');
    });

    it('reloads only once the worker answers for the page', async () => {
        stage();
        assert.equal(await isolate('/w.js'), 'reloading');
        assert.deepEqual(done, ['register /w.js', 'claimed', 'reload']);
    });

    it('does not wait for a worker that will not claim again', async () => {
        stage({ active: true });
        assert.equal(await isolate('/w.js'), 'reloading');
        assert.deepEqual(done, ['register /w.js', 'reload']);
    });

    it('does not reload for ever where it does not help', async () => {
        stage();
        await isolate('/w.js');
        done = [];
        stage({ controlled: true });
        assert.equal(await isolate('/w.js'), 'refused');
        assert.deepEqual(done, []);
    });
});
