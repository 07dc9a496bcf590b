/**
 * Replicated counters of two devices, synchronised over a server of the application: PostgreSQL with one row for each
 * counter and node, two browsers, and partitions in between. The totals agree.
 */

import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { after, before, it } from 'node:test';

import { JOIN, STATE, TABLE, TOTAL } from '../../web/counter-sync.js';
import { createServer, STRICT_CSP } from '../../web/server.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { missing, startPostgres } from './harness/postgres.js';
import { DIST } from './harness/site.js';
import { seededRandom } from './page/seeded-random.js';

const SEED = 20_261_121;
const ROUNDS = 24;

/** @typedef {import('./harness/tab.js').Tab} Tab */

/**
 * Serves POST /<counter>?device=…, which merges a state into the stored one and answers with the result.
 *
 * @param {Awaited<ReturnType<typeof startPostgres>>} database
 * @param {Set<string | null>} cutOff devices whose connections break, every second one after the merge
 */
async function startSync(database, cutOff) {
    let breaks = 0;
    const server = createHttpServer(async (request, response) => {
        const url = new URL(request.url ?? '/', 'http://localhost');
        const counter = url.pathname.slice(1);
        let state = '';
        for await (const part of request) state += part;
        const cut = cutOff.has(url.searchParams.get('device'));
        if (cut && ++breaks % 2) return void request.socket.destroy();
        const answer = await database.query(JOIN + STATE, { counter, state });
        if (cut) return void request.socket.destroy();
        response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
        response.end(answer);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) };
}

describeIn([ENGINES.chromium], 'Counters over a server of the application', (engine) => {
    /** @type {Awaited<ReturnType<typeof startPostgres>>} */
    let database;
    /** @type {Awaited<ReturnType<typeof startSync>>} */
    let sync;
    /** @type {import('../../web/server.js').Server} */
    let site;
    /** @type {import('./harness/engines.js').Browser[]} */
    const browsers = [];
    /** @type {Set<string | null>} */
    const cutOff = new Set();

    before(async () => {
        if (missing) return;
        database = await startPostgres();
        await database.query(TABLE);
        sync = await startSync(database, cutOff);
        site = await createServer({
            mounts: { '/': new URL('page', import.meta.url), '/dist': DIST },
            csp: STRICT_CSP.replace("connect-src 'self'", `connect-src 'self' ${sync.url}`),
        });
        for (let i = 0; i < 2; i++) browsers.push(await engine.launch());
    });
    after(async () => {
        await Promise.all(browsers.map((browser) => browser.close()));
        await site?.close();
        await sync?.close();
        await database?.close();
    });

    /** @param {number} device */
    const openOn = async (device) => {
        const tab = await /** @type {import('./harness/engines.js').Browser} */ (browsers[device]).openTab(
            `${site.url}/away.html`,
        );
        await tab.evaluate(async () => {
            const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
            const page = /** @type {any} */ (globalThis);
            page.counter = (await open({ namespace: 'shared' })).counter('likes');
        });
        return tab;
    };
    /** @param {Tab} tab @param {number} n */
    const add = (tab, n) =>
        tab.evaluate(async (/** @type {number} */ by) => {
            const { counter } = /** @type {any} */ (globalThis);
            counter.add(by);
            await counter.flush();
        }, n);
    /** Synchronises a tab. @param {Tab} tab @param {number} device @returns {Promise<boolean>} whether it succeeded */
    const carry = (tab, device) =>
        tab.evaluate(async (/** @type {string} */ address) => {
            const { counter } = /** @type {any} */ (globalThis);
            try {
                const response = await fetch(address, {
                    method: 'POST',
                    body: JSON.stringify(await counter.state()),
                });
                await counter.merge(await response.json());
                return true;
            } catch (error) {
                if (error instanceof TypeError) return false; // the connection was cut off
                throw error;
            }
        }, `${sync.url}/likes?device=${device}`);
    /** @param {Tab} tab @returns {Promise<number>} */
    const read = (tab) => tab.evaluate(() => /** @type {any} */ (globalThis).counter.read());

    it(
        'all tabs have the same total after each was synchronised, whatever was cut off in between',
        { skip: missing ?? false },
        async () => {
            const below = seededRandom(SEED);
            const tabs = [await openOn(0), await openOn(1), await openOn(1)];
            const devices = [0, 1, 1];
            let expected = 0;
            let carried = 0;
            let failed = 0;
            for (let round = 0; round < ROUNDS; round++) {
                const which = below(tabs.length);
                const tab = /** @type {Tab} */ (tabs[which]);
                const n = below(20) - 5;
                await add(tab, n);
                expected += n;
                const device = String(below(2));
                if (!cutOff.delete(device)) cutOff.add(device);
                if (await carry(tab, Number(devices[which]))) carried++;
                else failed++;
                if (round === ROUNDS >> 1) {
                    await tabs[0]?.close();
                    tabs[0] = await openOn(0);
                }
            }
            assert.ok(carried > 3 && failed > 3, `${carried} came through, ${failed} did not`);
            cutOff.clear();
            for (const device of [0, 1, 0]) assert.ok(await carry(/** @type {Tab} */ (tabs[device]), device));
            for (const tab of tabs) assert.equal(await read(tab), expected);
            assert.equal(Number(await database.query(TOTAL, { counter: 'likes' })), expected);
        },
    );
});
