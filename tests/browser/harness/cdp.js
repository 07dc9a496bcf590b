/**
 * The Chrome DevTools Protocol over a pipe: JSON messages that end with a zero byte, on the browser's file descriptors
 * 3 (to it) and 4 (from it). The tests use no library for it, which might hide messages around the death of a process.
 */

/** @typedef {Record<string, any>} Message */

export class CdpConnection {
    /** @type {Map<number, { resolve: (result: Message) => void, reject: (error: Error) => void, session?: string }>} */
    #pending = new Map();
    /** @type {Set<(event: { session?: string, method: string, params: Message }) => void>} */
    #listeners = new Set();
    #lastId = 0;
    #text = '';
    /** @type {Error | undefined} */
    #broken;

    /**
     * @param {import('node:stream').Writable} input
     * @param {import('node:stream').Readable} output
     */
    constructor(input, output) {
        this.input = input;
        input.on('error', () => this.#end());
        output.setEncoding('utf8');
        output.on('data', (/** @type {string} */ chunk) => this.#receive(chunk));
        output.on('close', () => this.#end());
        output.on('error', () => this.#end());
    }

    /**
     * @param {string} method
     * @param {Message} [params]
     * @param {string} [session]
     * @returns {Promise<Message>}
     */
    send(method, params = {}, session) {
        if (this.#broken) return Promise.reject(this.#broken);
        const id = ++this.#lastId;
        return new Promise((resolve, reject) => {
            this.#pending.set(id, { resolve, reject, session });
            this.input.write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
        });
    }

    /**
     * @param {(event: { session?: string, method: string, params: Message }) => void} listener
     * @returns {() => void} removes the listener
     */
    onEvent(listener) {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
    }

    /**
     * @param {string} method
     * @param {(params: Message, session?: string) => boolean} accept
     * @returns {Promise<Message>} the parameters of the first event that is accepted
     */
    event(method, accept) {
        return new Promise((resolve) => {
            const stop = this.onEvent((event) => {
                if (event.method !== method || !accept(event.params, event.session)) return;
                stop();
                resolve(event.params);
            });
        });
    }

    /** @param {string} chunk */
    #receive(chunk) {
        const parts = (this.#text + chunk).split('\0');
        this.#text = parts.pop() ?? '';
        for (const part of parts) this.#dispatch(JSON.parse(part));
    }

    /** @param {Message} message */
    #dispatch({ id, result, error, method, params, sessionId }) {
        if (id === undefined) {
            if (method === 'Inspector.targetCrashed') this.#failSession(sessionId);
            if (method === 'Target.detachedFromTarget') this.#failSession(params.sessionId);
            for (const listener of this.#listeners) listener({ session: sessionId, method, params });
            return;
        }
        const request = this.#pending.get(id);
        this.#pending.delete(id);
        if (error) request?.reject(new Error(`${error.message} (${error.data ?? error.code})`));
        else request?.resolve(result);
    }

    /**
     * Rejects the requests of a session. A crashed page does not answer them, and the protocol does not reject them.
     *
     * @param {string} session
     */
    #failSession(session) {
        for (const [id, request] of this.#pending) {
            if (request.session !== session) continue;
            this.#pending.delete(id);
            request.reject(new Error('the tab died'));
        }
    }

    #end() {
        this.#broken ??= new Error('the browser has ended');
        for (const { reject } of this.#pending.values()) reject(this.#broken);
        this.#pending.clear();
    }
}
