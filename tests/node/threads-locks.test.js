/** `shared.locks` against W3C Web Locks, for the threads of one memory. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
import { nextMacrotask } from '../../js/common/macrotask.js';
import { watchWorkers } from '../../js/threads/exit/watch-workers.node.js';
import { watchExit } from '../../js/threads/exit/worker-exit.node.js';
import { spawnStorer } from '../programs/spawn-storer.node.js';
import { lockSuite } from './lock-suite.js';
import { deferred, rejectsDom } from './lock-suite-helpers.js';

/** @type {(() => unknown)[]} */
const endings = [];
after(() => Promise.all(endings.map((end) => end())));

/** Two clients in one thread. */
async function clients() {
    const page = await threads();
    const other = await attach(page.handle);
    /** @type {any} */
    const Lock = await page.locks.request('', (lock) => /** @type {any} */ (lock).constructor);
    return { page, other, Lock };
}

lockSuite('shared.locks of the page and of an attachment', async () => {
    const { page, other, Lock } = await clients();
    const LockManager = /** @type {any} */ (page.locks).constructor;
    const end = () => {
        other.close();
        page.close();
    };
    return /** @type {any} */ ({ locks: page.locks, others: other.locks, Lock, LockManager, end });
});

/** @param {import('tabacus/threads').ThreadsMemory} shared */
const startWorker = (shared) => spawnStorer(shared, endings);

const never = () => new Promise(() => {});

describe('shared.locks', () => {
    it('the page and workers that count under a lock lose nothing', async () => {
        const shared = await threads();
        endings.push(() => shared.close());
        const workers = await Promise.all([1, 2, 3].map(() => startWorker(shared)));
        const plain = new Int32Array(new SharedArrayBuffer(4));
        const counted = workers.map(({ call }) => call('count', 'l', 40, plain));
        for (let i = 0; i < 40; i++) {
            await shared.locks.request('l', async () => {
                const before = Number(plain[0]);
                await undefined;
                plain[0] = before + 1;
            });
        }
        await Promise.all(counted);
        assert.equal(plain[0], 160);
        assert.deepEqual(await shared.locks.query(), { held: [], pending: [] });
    });

    it('§2.6: terminating a worker, or closing its attachment, releases its locks and withdraws its requests', async () => {
        const shared = await threads();
        endings.push(() => shared.close());
        for (const end of ['terminate', 'close']) {
            const [holder, waiter] = [await startWorker(shared), await startWorker(shared)];
            assert.equal(await holder.call('hold', 'l', { mode: 'shared' }), 'shared');
            void waiter.call('hold', 'l', {}).catch(() => {});
            while ((await shared.locks.query()).pending.length < 1)
                await new Promise((resolve) => setTimeout(resolve, 1));
            const granted = shared.locks.request('l', { mode: 'shared' }, (lock) => lock?.mode);
            const { held, pending } = await shared.locks.query();
            assert.equal(held.length, 1);
            assert.equal(pending.length, 2);
            assert.equal(new Set([...held, ...pending].map(({ clientId }) => clientId)).size, 3);
            for (const { worker } of [waiter, holder]) {
                if (end === 'terminate') await worker.terminate();
                else worker.postMessage({ method: 'close', args: [] });
            }
            assert.equal(await granted, 'shared');
            while ((await shared.locks.query()).held.length > 0)
                await new Promise((resolve) => setTimeout(resolve, 1));
            assert.deepEqual(await shared.locks.query(), { held: [], pending: [] });
        }
    });

    it('the request of a worker rejects when its lock is stolen, and locks and counters have separate names', async () => {
        const shared = await threads();
        endings.push(() => shared.close());
        const { call } = await startWorker(shared);
        const granted = deferred();
        const mine = shared.locks.request('m', () => (granted.resolve(), never()));
        await granted.promise;
        await call('hold', 'l', {});
        const steals = [
            shared.locks.request('l', { steal: true }, never),
            call('hold', 'm', { steal: true }),
        ];
        await rejectsDom(mine, 'AbortError');
        await steals[1];
        shared.counter('m');
        const { held } = await shared.locks.query();
        assert.deepEqual(held.map(({ name }) => name).sort(), ['l', 'm']);
        steals[0]?.catch(() => {});
    });

    it('a closed attachment refuses requests, and its waiting requests reject', async () => {
        const { page, other } = await clients();
        void page.locks.request('l', never).catch(() => {});
        const waiting = other.locks.request('l', () => 'never');
        while ((await page.locks.query()).pending.length < 1)
            await new Promise((resolve) => setTimeout(resolve, 1));
        other.close();
        await assert.rejects(waiting, { code: 'closed' });
        await assert.rejects(
            other.locks.request('l', () => {}),
            { code: 'closed' },
        );
        await assert.rejects(other.locks.query(), { code: 'closed' });
        assert.equal((await page.locks.query()).pending.length, 0);
        page.close();
    });

    it('watchExit() reports a worker that has ended at once, and reports nothing after it was stopped', async () => {
        watchWorkers();
        const worker = new Worker('', { eval: true });
        const number = worker.threadId;
        let exits = 0;
        await nextMacrotask();
        watchExit('', 1, () => (exits += 10), number)();
        await once(worker, 'exit');
        watchExit('', 1, () => (exits += 1), number);
        assert.equal(exits, 1);
    });

    it('an abort after close() changes nothing, and a closed page refuses to make segments', async () => {
        const { page, other } = await clients();
        const holding = page.locks.request('l', never).catch(() => {});
        const controller = new AbortController();
        const waiting = other.locks.request('l', { signal: controller.signal }, () => 'never');
        while ((await page.locks.query()).pending.length < 1)
            await new Promise((resolve) => setTimeout(resolve, 1));
        other.close();
        controller.abort();
        await assert.rejects(waiting, { code: 'closed' });
        const { held, pending } = await page.locks.query();
        assert.deepEqual([held.map(({ name }) => name), pending], [['l'], []]);
        assert.equal(await page.locks.request('other', () => 1), 1);
        const late = await attach(page.handle);
        page.close();
        await holding;
        await assert.rejects(late.storage(), { code: 'unavailable' });
        assert.equal(await late.locks.request('l', () => 2), 2);
        late.close();
    });

    it('any string is a name, and a request that does not fit is an error and changes nothing', async () => {
        const { page } = await clients();
        endings.push(() => page.close());
        for (const name of ['', '\ud800', 'a\0b', 'x'.repeat(5000), /** @type {any} */ (7)]) {
            assert.equal(await page.locks.request(name, (lock) => lock?.name), String(name));
        }
        await assert.rejects(
            page.locks.request('x'.repeat(2 ** 20), () => {}),
            { code: 'out-of-memory' },
        );
        assert.equal(await page.locks.request('still', () => 1), 1);
    });
});
