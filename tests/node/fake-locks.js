/** A lock manager that queues requests as W3C Web Locks §4 specifies, for all tabs of a fake origin. */

/** @typedef {{ name: string, mode: 'exclusive' | 'shared', clientId: string, grant: () => void, lose: () => void }} Request */

export class LockOrigin {
    /** @type {Request[]} */
    held = [];
    /** @type {Request[]} */
    queue = [];
    requests = 0;

    /**
     * One tab's `navigator.locks`.
     * @param {string} clientId
     */
    manager(clientId) {
        return {
            request: (/** @type {string} */ name, /** @type {any} */ options, /** @type {any} */ callback) =>
                this.#request(clientId, name, options, callback),
            query: async () => ({ held: this.held.map(info), pending: this.queue.map(info) }),
        };
    }

    /**
     * @param {string} clientId
     * @param {string} name
     * @param {any} options
     * @param {(lock: object | null) => unknown} callback
     */
    #request(clientId, name, { mode = 'exclusive', ifAvailable, steal, signal }, callback) {
        this.requests++;
        return new Promise((resolve, reject) => {
            /** @type {Request} */
            const request = {
                name,
                mode,
                clientId,
                grant: () =>
                    void Promise.resolve()
                        .then(() => callback({ name, mode }))
                        .then(resolve, reject)
                        .finally(() => {
                            this.held = this.held.filter((other) => other !== request);
                            this.#process(name);
                        }),
                lose: () => reject(new DOMException('stolen', 'AbortError')),
            };
            if (ifAvailable && !this.#grantable(request)) {
                void Promise.resolve()
                    .then(() => callback(null))
                    .then(resolve, reject);
                return;
            }
            signal?.addEventListener('abort', () => {
                if (!this.queue.includes(request)) return;
                this.queue = this.queue.filter((other) => other !== request);
                reject(signal.reason);
                this.#process(name);
            });
            if (steal) {
                for (const previous of this.held.filter((other) => other.name === name)) previous.lose();
                this.held = this.held.filter((other) => other.name !== name);
                this.queue.unshift(request);
            } else {
                this.queue.push(request);
            }
            this.#process(name);
        });
    }

    /** @param {Request} request */
    #grantable({ name, mode }) {
        if (this.queue.some((other) => other.name === name)) return false;
        return this.#free(name, mode);
    }

    /**
     * @param {string} name
     * @param {string} mode
     */
    #free(name, mode) {
        return !this.held.some(
            (other) => other.name === name && (mode === 'exclusive' || other.mode === 'exclusive'),
        );
    }

    /** @param {string} name */
    #process(name) {
        for (;;) {
            const first = this.queue.find((other) => other.name === name);
            if (!first || !this.#free(name, first.mode)) return;
            this.queue = this.queue.filter((other) => other !== first);
            this.held.push(first);
            first.grant();
        }
    }
}

/** @param {Request} request */
const info = ({ name, mode, clientId }) => ({ name, mode, clientId });
