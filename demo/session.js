/**
 * A session over all tabs. Each expiry causes one refresh, by the tab that needs it first. No tab is logged out
 * because two tabs refresh at once, or because a tab crashes during the refresh. docs/locks.md explains it.
 */

/** @typedef {{ number: number, access: string, refresh: string }} Tokens  empty if the session has ended */

const store = 'session';

const ENDED = Object.freeze({ access: '', refresh: '' });

export class Session {
    #lock;
    #tab;
    #url;

    /** The tokens that this tab has read last. @type {Tokens | undefined} */
    #tokens;

    /**
     * @param {import('tabacus').Tab} tab
     * @param {string} url of the provider (web/token-server.js)
     */
    constructor(tab, url) {
        this.#tab = tab;
        this.#lock = tab.lock('session');
        this.#url = url;
    }

    /** Logs in, unless a tab of this origin is logged in already. */
    async login() {
        this.#tokens = await this.#lock.run(async (held) => {
            const stored = await this.#read(held);
            if (stored?.access) return stored;
            const given = await this.#post('/login', {}, held.signal);
            return this.#write(held, (stored?.number ?? 0) + 1, given ?? ENDED);
        });
    }

    /**
     * @param {string} path
     * @returns {Promise<Response>} rejects if the session has ended
     */
    async request(path) {
        for (let tries = 1; ; tries++) {
            const tokens = (this.#tokens ??= await this.#lock.run((held) => this.#read(held)));
            if (!tokens?.access) {
                this.#tokens = undefined; // another tab may log in again
                throw new Error('nobody is logged in');
            }
            // Requests share the lock, and a refresh holds it alone: no request runs while the tokens change.
            const response = await this.#lock.run(
                ({ signal }) =>
                    fetch(this.#url + path, {
                        headers: { authorization: `Bearer ${tokens.access}` },
                        signal,
                    }),
                { mode: 'shared' },
            );
            if (response.status !== 401 || tries === 3) return response;
            await response.body?.cancel();
            this.#tokens = await this.#refreshed(tokens);
        }
    }

    /**
     * The tokens after `expired`. Of many requests that ask for them, one refreshes; a later one finds the new tokens.
     * @param {Tokens} expired
     */
    #refreshed(expired) {
        return this.#tab.once(`session/${expired.number}`, () =>
            this.#lock.run(async (held) => {
                const stored = await this.#read(held);
                if (stored && stored.number > expired.number) return stored;
                const given = await this.#post('/refresh', { refresh: expired.refresh }, held.signal);
                return this.#write(held, expired.number + 1, given ?? ENDED);
            }),
        );
    }

    /** @param {import('tabacus').Held} held @returns {Promise<Tokens | undefined>} */
    #read(held) {
        return held.commit(store, (tx) => tx.get(store, 'tokens'));
    }

    /**
     * @param {import('tabacus').Held} held
     * @param {number} number
     * @param {{ access: string, refresh: string }} given
     */
    async #write(held, number, { access, refresh }) {
        const tokens = { number, access, refresh };
        await held.commit(store, (tx) => tx.put(store, 'tokens', tokens));
        return tokens;
    }

    /**
     * @param {string} path
     * @param {object} body
     * @param {AbortSignal} signal
     * @returns {Promise<{ access: string, refresh: string } | null>} null if the provider refuses
     */
    async #post(path, body, signal) {
        const response = await fetch(this.#url + path, {
            method: 'POST',
            body: JSON.stringify(body),
            signal,
        });
        if (response.status === 401) return null;
        if (!response.ok) throw new Error(`${path}: ${response.status}`);
        return response.json();
    }
}
