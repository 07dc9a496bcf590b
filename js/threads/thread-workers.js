/**
 * The Workers of the C++ threads of threads.wasm. Its glue calls start() and failed(): the build inserts
 * these calls (scripts/lib/glue.js).
 */

import { TabacusError } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';

/** The name of the Trusted Types policy, which a page may have to allow. README states it. */
const policyName = 'tabacus';

const cure =
    "allow its address in worker-src of the page's Content-Security-Policy, or copy threads-worker.js there";

/** Starts the Workers, and records their failures. */
export class ThreadWorkers {
    /** The latest failure of a Worker. @type {TabacusError | undefined} */
    failure;

    /** The number of failures. */
    failures = 0;

    /**
     * Makes a trusted address, on a page that requires Trusted Types.
     * @type {((address: string) => unknown) | undefined}
     */
    #trust;

    /**
     * Starts a Worker.
     *
     * @param {() => Worker} make contains the literal `new Worker(new URL(…))` that bundlers look for
     * @returns {Worker}
     */
    start(make) {
        requirePlatform('a C++ thread', ['Worker']);
        if (this.#trust) return trusting(this.#trust, make);
        try {
            return make();
        } catch (cause) {
            const { trustedTypes } = /** @type {any} */ (globalThis);
            if (!(cause instanceof TypeError) || !trustedTypes) throw cause;
            this.#trust = trustOf(trustedTypes);
            return trusting(this.#trust, make);
        }
    }

    /**
     * Records the failure of a Worker that could not be started, or that has stopped.
     *
     * @param {any} cause an error, or the event of a Worker
     */
    failed(cause) {
        cause?.preventDefault?.(); // hammer() reports the failure
        const message = cause?.message || 'the browser did not start it';
        this.failure =
            cause instanceof TabacusError
                ? cause
                : new TabacusError('unavailable', `the Worker of a C++ thread failed (${message}): ${cure}`, {
                      cause,
                  });
        ++this.failures;
    }
}

/**
 * Returns a function that makes trusted addresses.
 *
 * @param {any} trustedTypes
 * @returns {(address: string) => unknown}
 * @throws {TabacusError} `unavailable` if the page does not allow the policy
 */
function trustOf(trustedTypes) {
    try {
        const policy = trustedTypes.createPolicy(policyName, {
            createScriptURL: (/** @type {string} */ address) => address,
        });
        return (address) => policy.createScriptURL(address);
    } catch (cause) {
        throw new TabacusError(
            'unavailable',
            `the page demands Trusted Types and does not allow the policy ${policyName}: add ` +
                `"trusted-types ${policyName}" to its Content-Security-Policy`,
            { cause },
        );
    }
}

/**
 * Calls `make` while the global `Worker` is replaced by one that makes its addresses trusted ones. `make`
 * itself must keep the form that bundlers look for. No other code runs meanwhile.
 *
 * @param {(address: string) => unknown} trust
 * @param {() => Worker} make
 */
function trusting(trust, make) {
    const scope = /** @type {any} */ (globalThis);
    const NativeWorker = scope.Worker;
    scope.Worker = function (/** @type {URL} */ address, /** @type {WorkerOptions} */ options) {
        return new NativeWorker(trust(String(address)), options);
    };
    try {
        return make();
    } finally {
        scope.Worker = NativeWorker;
    }
}
