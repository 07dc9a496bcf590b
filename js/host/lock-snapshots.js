import { isCutOff } from './lock-probe.js';
import { refusal } from './web-locks.js';

/** Snapshots of the Web Locks that the tabs of the origin hold and request (W3C Web Locks API, `query()`). */
export class LockSnapshots {
    #host;

    /** The names to probe for the operations that wait for a snapshot. @type {Map<number, string[]>} */
    #asking = new Map();

    /** @param {import('./host.js').Host} host */
    constructor(host) {
        this.#host = host;
        // The browser may never answer a query that was pending when the page was left: so it is repeated.
        host.lifecycle.onBack(() => {
            for (const [operation, names] of this.#asking) this.query(operation, names);
        });
    }

    /**
     * Takes a snapshot, and settles the operation with it. Where the browser has no query() or forbids it, the
     * locks of these names are probed.
     *
     * @param {number} operation
     * @param {string[]} names
     */
    query(operation, names) {
        const { report } = this.#host;
        this.#asking.set(operation, names);
        this.#snapshot(names).then(
            (rows) => {
                if (this.#asking.delete(operation)) report.settled(operation, rows);
            },
            (error) => {
                if (this.#asking.delete(operation)) report.failed(operation, ...refusal(error));
            },
        );
    }

    /**
     * Finds out whether new documents of the origin share the lock manager of this one, if site data may have been
     * cleared. Settles the operation if they do; otherwise it fails with `unavailable`.
     *
     * @param {number} operation
     */
    probe(operation) {
        const { report } = this.#host;
        isCutOff(this.#host).then((cutOff) => {
            if (cutOff) report.failed(operation, 'unavailable', '');
            else report.settled(operation);
        });
    }

    /**
     * Returns a text for the core that states whether the snapshot is complete, and then four texts for each lock or
     * request.
     *
     * @param {string[]} names
     */
    async #snapshot(names) {
        const { locks, lifecycle } = this.#host;
        if (lifecycle.prerendering)
            throw new DOMException('the browser answers once the page is shown', 'InvalidStateError');
        try {
            const { held, pending } = await /** @type {LockManager} */ (locks.manager).query();
            return [yes(true), ...rowsOf(held, true), ...rowsOf(pending, false)];
        } catch (error) {
            if (names.length === 0) throw error;
            const found = await Promise.all(names.map((name) => this.#probe(name)));
            return [yes(false), ...rowsOf(found.flat(), true)];
        }
    }

    /**
     * Finds out by requests that do not wait whether a lock is held. Such a request holds a free lock for a moment.
     *
     * @param {string} name
     * @returns {Promise<LockInfo[]>} the lock, without its client, if it is held
     */
    async #probe(name) {
        const manager = /** @type {LockManager} */ (this.#host.locks.manager);
        /** @param {LockMode} mode */
        const free = (mode) => manager.request(name, { mode, ifAvailable: true }, (lock) => lock !== null);
        if (await free('exclusive')) return [];
        return [{ name, mode: (await free('shared')) ? 'shared' : 'exclusive' }];
    }
}

/**
 * Returns four texts for each lock or request.
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
