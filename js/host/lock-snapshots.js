import { refusal } from './web-locks.js';

/** Snapshots of the Web Locks that the origin's tabs hold and wait for (W3C Web Locks API, `query()`). */
export class LockSnapshots {
    #host;

    /** Operations that ask for one. @type {Set<number>} */
    #asking = new Set();

    /** @param {import('./host.js').Host} host */
    constructor(host) {
        this.#host = host;
        // What was under way when the page was left may never be answered.
        host.lifecycle.onBack(() => {
            for (const operation of this.#asking) this.query(operation);
        });
    }

    /** @param {number} operation */
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

/** @param {boolean} answer as the core reads it */
const yes = (answer) => (answer ? 'yes' : null);
