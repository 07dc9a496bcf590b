/** How many files a page asks for, and which of them at once: each request in a row costs a round trip. */

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

/** Serves dist/web, and keeps back answers until all that are to be asked for at once have been asked for. */
class Dist {
    /** @type {string[]} */
    #asked = [];
    /** Each group has the files that were not asked for yet, and what sends the answers that wait for them. @type {{ awaited: Set<string>, held: (() => void)[] }[]} */
    #groups = [];

    /** What was asked for since the last call, in its order. */
    take() {
        const missing = this.#groups.flatMap(({ awaited }) => [...awaited]);
        this.#groups = [];
        assert.deepEqual(missing, [], 'never asked for');
        return this.#asked.splice(0);
    }

    /** No file of a group is sent before all of the group were asked for. @param {string[][]} groups */
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

/** Each runs in the page. */
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

describeIn([ENGINES.chromium], 'What a page asks for', (engine) => {
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

    it('to the first add: one JavaScript file, then one wasm', { timeout }, async () => {
        await tab.evaluate(count);
        assert.deepEqual(dist.take(), ['tabacus.js', 'counters.wasm']);
    });

    it(
        'to the first lock, and then to the first queue and limit: two more each, at once',
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

    it('to the first queue without a lock before: four, at once', { timeout }, async () => {
        await tab.evaluate(count);
        dist.take();
        const files = ['locks.js', 'locks.wasm', 'queue.js', 'queue.wasm'];
        dist.holdUntilAll(files);
        await tab.evaluate(queue);
        assert.deepEqual(dist.take().sort(), files);
    });

    it('with `preload`: one JavaScript file, and then all that is used, at once', { timeout }, async () => {
        const files = ['counters.wasm', 'locks.js', 'locks.wasm', 'queue.js', 'queue.wasm'];
        dist.holdUntilAll(['tabacus.js'], files);
        await tab.evaluate(countAhead);
        await tab.evaluate(lock);
        await tab.evaluate(queue);
        const [first, ...more] = dist.take();
        assert.equal(first, 'tabacus.js');
        assert.deepEqual(more.sort(), files);
    });

    it('with the links of `npx tabacus preload`: all at once', { timeout }, async () => {
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
        'to the first counter of threads(): two JavaScript files at once, then one wasm; to C++ threads two at once',
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
