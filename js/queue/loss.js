/** The loss of the claim on a job. Its signal is made only when a handler reads it, because most handlers do not. */
export class Loss {
    /** @type {AbortController | undefined} */
    #controller;

    /** @type {Error | undefined} */
    reason;

    get signal() {
        if (!this.#controller) {
            this.#controller = new AbortController();
            if (this.reason) this.#controller.abort(this.reason);
        }
        return this.#controller.signal;
    }

    /** @param {Error} reason */
    set(reason) {
        this.reason ??= reason;
        this.#controller?.abort(reason);
    }
}
