/** A Worker that runs seeds. Bundlers follow its address, since that is a literal. */

import { TabacusError } from '../../common/errors.js';
import { requirePlatform } from '../../common/require-platform.js';

/**
 * Starts a Worker.
 *
 * @param {(message: any) => void} receive is called with each message
 * @param {(error: unknown) => void} fail is called if the Worker cannot be loaded, or fails
 * @returns {{ post: (message: unknown) => void, end: () => Promise<unknown> }} `end`: ends the Worker
 * @throws {TabacusError} `unavailable` if no Worker can be started
 */
export function openThread(receive, fail) {
    requirePlatform('the option workers', ['Worker']);
    const worker = opened();
    worker.onmessage = ({ data }) => receive(data);
    worker.onmessageerror = () => fail(new Error('a message of a Worker cannot be cloned'));
    worker.onerror = (event) => {
        event.preventDefault?.();
        fail(event.error ?? notStarted(event.message || 'its module was not loaded'));
    };
    return {
        post: (message) => worker.postMessage(message),
        end: async () => worker.terminate(),
    };
}

function opened() {
    try {
        return new Worker(new URL('./emulator-worker.js', import.meta.url), { type: 'module' });
    } catch (cause) {
        throw notStarted(/** @type {Error} */ (cause).message, cause);
    }
}

/** @param {string} message @param {unknown} [cause] */
const notStarted = (message, cause) =>
    new TabacusError(
        'unavailable',
        `a Worker of explore() failed (${message}): serve emulator-worker.js beside the emulator, or leave out workers`,
        { cause },
    );
