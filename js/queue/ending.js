import { TabacusError } from '../common/errors.js';
import { errorFrom, unpacked } from './payloads.js';

/** @typedef {{ value: unknown } | { failure: unknown }} Outcome */

/**
 * The outcome of a job for the tab that enqueued it. Its promise is made only when a caller reads it, because
 * the outcomes of most jobs are not awaited.
 */
export class Ending {
    /** @type {Outcome | undefined} */
    #outcome;

    /** @type {Promise<any> | undefined} */
    #promise;

    /** @type {((outcome: Outcome) => void) | undefined} */
    #deliver;

    get promise() {
        if (!this.#promise) {
            this.#promise = new Promise((resolve, reject) => {
                this.#deliver = (outcome) =>
                    'value' in outcome ? resolve(outcome.value) : reject(outcome.failure);
            });
            this.#promise.catch(() => {}); // a caller may never use it
            if (this.#outcome) this.#deliver?.(this.#outcome);
        }
        return this.#promise;
    }

    /** @param {Outcome} outcome */
    settle(outcome) {
        this.#outcome = outcome;
        this.#deliver?.(outcome);
    }
}

/**
 * The outcome of a job as its caller receives it.
 *
 * @param {'done' | 'failed' | 'cancelled'} end
 * @param {import('./payloads.js').QueueValue} value
 * @param {import('../host/values.js').Values} values
 * @returns {Outcome}
 */
export function outcomeOf(end, value, values) {
    if (end === 'cancelled') return { failure: new DOMException('the job was cancelled', 'AbortError') };
    if (end === 'failed') return { failure: errorFrom(value.text) };
    try {
        return { value: unpacked(value, values) };
    } catch {
        return { failure: new TabacusError('store-failed', 'the result cannot be read') };
    }
}
