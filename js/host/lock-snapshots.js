import { refusal } from './web-locks.js';

/** Snapshots of the Web Locks that the tabs of the origin hold and request (W3C Web Locks API, `query()`). */
export class LockSnapshots {
    #host;

    /** The operations that wait for a snapshot. @type {Set<number>} */
    #asking = new Set();

    /** @param {import('./host.js').Host} host */
    constructor(host) {
        this.#host = host;
        // The browser may never answer a query that was pending when the page was left: so it is repeated.
        host.lifecycle.onBack(() => {
            for (const operation of this.#asking) this.query(operation);
        });
    }

    /** Takes a snapshot, and settles the operation with it. @param {number} operation */
    query(operation) {
        const { locks, report } = this.#host;
        this.#asking.add(operation);
        Promise.resolve(locks.manager?.query()).then(
            (snapshot) => {
                const rows = [...rowsOf(snapshot?.held, true), ...rowsOf(snapshot?.pending, false)];
                if (this.#asking.delete(operation)) report.settled(operation, rows);
            },
            (error) => {
                if (this.#asking.delete(operation)) report.failed(operation, ...refusal(error));
            },
        );
    }
}

/**
 * Returns four texts for each lock or request, as the core reads them.
 *
 * @param {LockInfo[] | undefined} infos
 * @param {boolean} held
 */
const rowsOf = (infos = [], held) =>
    infos.flatMap(({ name = '', mode, clientId = '' }) => [
        yes(held),
        String(name),
        yes(mode === 'exclusive'),
        String(clientId),
    ]);

/** Converts a boolean into a text for the core. @param {boolean} answer */
const yes = (answer) => (answer ? 'yes' : null);
