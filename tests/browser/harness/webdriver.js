/** The part of the WebDriver protocol (W3C) that the tests need. */

/** @typedef {{ method?: 'GET' | 'POST' | 'DELETE', body?: unknown }} Request */

export class WebDriverSession {
    /**
     * The last command. A session has one current window, so its commands run one after another.
     *
     * @type {Promise<unknown>}
     */
    #last = Promise.resolve();

    /** @param {string} base  the session's address */
    constructor(base) {
        this.base = base;
    }

    /**
     * @param {string} server
     * @param {unknown} capabilities
     */
    static async start(server, capabilities) {
        const body = { capabilities: { alwaysMatch: capabilities } };
        const { sessionId } = await command(`${server}/session`, { method: 'POST', body });
        return new WebDriverSession(`${server}/session/${sessionId}`);
    }

    /**
     * @param {string} path
     * @param {Request} [request]
     * @returns {Promise<any>}
     */
    send(path, request) {
        return this.#inLine(() => command(this.base + path, request));
    }

    /**
     * Makes a window the current one and then sends it a command, with no other command in between.
     *
     * @param {string} window
     * @param {string} path
     * @param {Request} [request]
     * @returns {Promise<any>}
     */
    sendTo(window, path, request) {
        return this.#inLine(async () => {
            await command(`${this.base}/window`, { method: 'POST', body: { handle: window } });
            return command(this.base + path, request);
        });
    }

    /**
     * @template T
     * @param {() => Promise<T>} body
     * @returns {Promise<T>}
     */
    #inLine(body) {
        const turn = this.#last.then(body);
        this.#last = turn.catch(() => {});
        return turn;
    }
}

/**
 * @param {string} url
 * @param {Request} [request]
 */
async function command(url, { method = 'GET', body } = {}) {
    const response = await fetch(url, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
    });
    const { value } = /** @type {{ value: any }} */ (await response.json());
    if (!response.ok) throw new Error(`WebDriver: ${value.error}: ${value.message}`);
    return value;
}
