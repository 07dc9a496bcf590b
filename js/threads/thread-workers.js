/**
 * How threads.wasm gets the Workers of its C++ threads. Its glue calls start() and failed(), which the build writes
 * into it (scripts/lib/glue.js).
 */

import { TabacusError } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';

/** The Trusted Types policy that a page may have to allow. README names it. */
const policyName = 'tabacus';

const cure =
    "allow its address in worker-src of the page's Content-Security-Policy, or copy threads-worker.js there";

export class ThreadWorkers {
    /** Why the last one that failed did. @type {TabacusError | undefined} */
    failure;

    /** How many have failed. */
    failures = 0;

    /** Makes an address a trusted one, on a page that demands it. @type {((address: string) => unknown) | undefined} */
    #trust;

    /**
     * @param {() => Worker} make has the literal `new Worker(new URL(…))` that bundlers look for
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
     * Takes the failure of a Worker that was not started, or that runs no more.
     *
     * @param {any} cause an error, or the event of a Worker
     */
    failed(cause) {
        cause?.preventDefault?.(); // it is reported here
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
 * @param {any} trustedTypes
 * @returns {(address: string) => unknown}
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
 * Calls `make` with a `Worker` that takes trusted addresses: what `make` contains must stay as bundlers know it.
 * Nothing else runs meanwhile.
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
