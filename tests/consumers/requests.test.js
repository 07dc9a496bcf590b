/** Which files a page requests, and which of them at once. Each request that waits for another costs a round trip. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { DIST } from '../../bench/lib/context.js';
import { preloadLinks } from '../../bin/preload.js';
import { createServer } from '../../web/server.js';
import { describeIn, ENGINES } from '../browser/harness/engines.js';

/** @typedef {import('../browser/harness/chromium.js').ChromiumTab} ChromiumTab */

const WEB = join(DIST, 'web');

/** Serves dist/web, and holds answers back until all files of a group have been requested. */
class Dist {
    /** @type {string[]} */
    #asked = [];
    /**
     * The files of each group that were not requested yet, and functions that send the answers that wait for them.
     *
     * @type {{ awaited: Set<string>, held: (() => void)[] }[]}
     */
    #groups = [];

    /** The files that were requested since the last call, in the order of the requests. */
    take() {
        const missing = this.#groups.flatMap(({ awaited }) => [...awaited]);
        this.#groups = [];
        assert.deepEqual(missing, [], 'every file of a group must be requested');
        return this.#asked.splice(0);
    }

    /** Holds back the files of each group until all of them are requested. @param {string[][]} groups */
    holdUntilAll(...groups) {
        this.#groups = groups.map((names) => ({ awaited: new Set(names), held: [] }));
    }

    /** @type {import('../../web/server.js').Handler} */
    handle = async (_request, response, path) => {
        const name = path.slice(1);
        this.#asked.push(name);
        const group = this.#groups.find(({ awaited }) => awaited.delete(name));
        if (group && group.awaited.size > 0)
            await new Promise((resolve) => group.held.push(() => resolve(null)));
        else for (const send of group?.held.splice(0) ?? []) send();
        const type = name.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
        response.writeHead(200, {
            'content-type': type,
            'cross-origin-opener-policy': 'same-origin',
            'cross-origin-embedder-policy': 'require-corp',
        });
        response.end(readFileSync(join(WEB, name)));
    };
}

/** This function and the following ones run in the page. */
const count = async () => {
    const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
    const tab = await open({ namespace: String(Math.random()) });
    tab.counter('visits').add(1);
    Object.assign(globalThis, { tab });
};
const countAhead = async () => {
    const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
    const preload = ['locks', 'queue'];
    const tab = await open({ namespace: String(Math.random()), preload });
    Object.assign(globalThis, { tab });
};
const lock = async () => {
    await /** @type {any} */ (globalThis).tab.lock('cart').run(() => {});
};
const queue = async () => {
    await /** @type {any} */ (globalThis).tab.queue('mails').enqueue(1);
};
const limit = async () => {
    await /** @type {any} */ (globalThis).tab.sequence('orders').next();
};
const share = async () => {
    const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
    const shared = await threads();
    Object.assign(globalThis, { shared });
    return shared.counter('clicks').add();
};
const hammer = async () => {
    const { shared } = /** @type {any} */ (globalThis);
    const clicks = shared.counter('clicks');
    await shared.hammer(clicks, { threads: 1, adds: 1 });
    const { value } = clicks;
    shared.close();
    return value;
};

const timeout = 30_000;

describeIn([ENGINES.chromium], 'The requests of a page', (engine) => {
    /** @type {import('../browser/harness/engines.js').Browser} */
    let browser;
    /** @type {import('../../web/server.js').Server} */
    let server;
    /** @type {ChromiumTab} */
    let tab;
    const dist = new Dist();

    before(async () => {
        const page = fileURLToPath(new URL('../../bench/page/payload.html', import.meta.url));
        server = await createServer({
            mounts: { '/page.html': page },
            handlers: { '/dist/web': dist.handle },
        });
        browser = await engine.launch();
    });
    after(async () => {
        await browser?.close();
        await server?.close();
    });
    beforeEach(async () => {
        tab = /** @type {ChromiumTab} */ (await browser.openTab(`${server.url}/page.html`));
    });
    afterEach(() => tab?.close());

    it('a page requests one JavaScript file and then one wasm for its first add', { timeout }, async () => {
        await tab.evaluate(count);
        assert.deepEqual(dist.take(), ['tabacus.js', 'counters.wasm']);
    });

    it(
        'a page requests two more files at once for its first lock, for its first queue and for its first limit',
        { timeout },
        async () => {
            await tab.evaluate(count);
            dist.take();
            for (const [use, ...files] of /** @type {[() => Promise<void>, ...string[]][]} */ ([
                [lock, 'locks.js', 'locks.wasm'],
                [queue, 'queue.js', 'queue.wasm'],
                [limit, 'limits.js', 'limits.wasm'],
            ])) {
                dist.holdUntilAll(files);
                await tab.evaluate(use);
                assert.deepEqual(dist.take().sort(), files);
            }
        },
    );

    it('a page requests four files at once for a first queue before any lock', { timeout }, async () => {
        await tab.evaluate(count);
        dist.take();
        const files = ['locks.js', 'locks.wasm', 'queue.js', 'queue.wasm'];
        dist.holdUntilAll(files);
        await tab.evaluate(queue);
        assert.deepEqual(dist.take().sort(), files);
    });

    it('a page with `preload` requests one script, then all others at once', { timeout }, async () => {
        const files = ['counters.wasm', 'locks.js', 'locks.wasm', 'queue.js', 'queue.wasm'];
        dist.holdUntilAll(['tabacus.js'], files);
        await tab.evaluate(countAhead);
        await tab.evaluate(lock);
        await tab.evaluate(queue);
        const [first, ...more] = dist.take();
        assert.equal(first, 'tabacus.js');
        assert.deepEqual(more.sort(), files);
    });

    it('a page with the links of `npx tabacus preload` requests all files at once', { timeout }, async () => {
        const files = ['counters.wasm', 'locks.js', 'locks.wasm', 'queue.js', 'queue.wasm', 'tabacus.js'];
        dist.holdUntilAll(files);
        const links = preloadLinks(['queue'], '/dist/web').join('');
        await tab.evaluate(
            (/** @type {string} */ html) => document.head.insertAdjacentHTML('beforeend', html),
            links,
        );
        await tab.evaluate(count);
        await tab.evaluate(lock);
        await tab.evaluate(queue);
        assert.deepEqual(dist.take().sort(), files);
    });

    it(
        'a page requests two JavaScript files at once and then one wasm for threads(), and two at once for C++ threads',
        { timeout },
        async () => {
            dist.holdUntilAll(['tabacus-threads.js', 'tabacus-worker.js']);
            assert.equal(await tab.evaluate(share), 1);
            const [first, ...more] = dist.take();
            assert.equal(first, 'tabacus.js');
            assert.deepEqual(more.slice(0, 2).sort(), ['tabacus-threads.js', 'tabacus-worker.js']);
            assert.deepEqual(more.slice(2), ['attach.wasm']);
            dist.holdUntilAll(['threads-program.js', 'threads.wasm']);
            assert.equal(await tab.evaluate(hammer), 2);
            const files = ['threads-program.js', 'threads-worker.js', 'threads.wasm'];
            assert.deepEqual(dist.take().sort(), files);
        },
    );
});
