/**
 * A session as it is often written: each tab that gets a 401 refreshes the tokens, which are in localStorage. The page
 * compares it with demo/session.js. Do not copy it.
 */

const key = 'demo/session-naive';

/** @returns {{ access: string, refresh: string } | null} */
const read = () => JSON.parse(localStorage.getItem(key) ?? 'null');

export class NaiveSession {
    #url;

    /** @param {string} url of the provider (web/token-server.js) */
    constructor(url) {
        this.#url = url;
    }

    async login() {
        if (!read()) await this.#renew('/login', {});
    }

    /** @param {string} path */
    async request(path) {
        const tokens = read();
        if (!tokens) throw new Error('nobody is logged in');
        const response = await this.#get(path, tokens.access);
        if (response.status !== 401) return response;
        await response.body?.cancel();
        const renewed = await this.#renew('/refresh', { refresh: tokens.refresh });
        if (!renewed) throw new Error('nobody is logged in');
        return this.#get(path, renewed.access);
    }

    /** @param {string} path @param {string} access */
    #get(path, access) {
        return fetch(this.#url + path, { headers: { authorization: `Bearer ${access}` } });
    }

    /** @param {string} path @param {object} body */
    async #renew(path, body) {
        const response = await fetch(this.#url + path, { method: 'POST', body: JSON.stringify(body) });
        if (!response.ok) {
            localStorage.removeItem(key);
            return null;
        }
        const tokens = await response.json();
        localStorage.setItem(key, JSON.stringify(tokens));
        return tokens;
    }
}
