/** Watches the work of the host for a run. A browser does not report it. */

/** Whether a watch sees what the host does. */
export const seesHost = false;

export class HostWatch {
    /** @param {{ owning: (promise: object) => unknown }} _owner */
    constructor(_owner) {}

    /** What the host does for the run that is not complete; undefined if that is not known. @type {string | undefined} */
    pending = undefined;

    /** How long that work certainly takes, in milliseconds of real time from its beginning; 0 if that is not known. */
    pending_ms = 0;

    /**
     * Calls a function and watches what it does, until its promise is settled.
     *
     * @template Value
     * @param {() => Promise<Value>} call
     * @returns {Promise<Value>}
     */
    during(call) {
        return call();
    }

    /**
     * Calls a function without watching it.
     *
     * @template Value
     * @param {() => Value} call
     * @returns {Value}
     */
    outside(call) {
        return call();
    }
}
