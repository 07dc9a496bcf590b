/** `fetch()` of a context: that of the host, whose responses are delivered on the schedule. */

import { requireArguments } from '../../platform/web-idl.js';
import { tracked } from './host-work.js';
import { adopted } from './body-interfaces.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * The whole body is part of the work, so that reading it later needs nothing of the host.
 *
 * @param {Context} context
 * @param {Promise<Response>} fetched
 */
async function loaded(context, fetched) {
    const response = await fetched;
    if (!(response instanceof Response)) return response;
    // A body that breaks off is an error of the script that reads it.
    const { body } = response.clone();
    if (body) await new Response(body).arrayBuffer().catch(() => {});
    return adopted(context, response);
}

/** The signal by which a call can be aborted. @param {any} input @param {any} init @returns {any} */
const signalOf = (input, init) => init?.signal ?? (input instanceof Request ? input.signal : undefined);

/** @param {Context} context */
export function fetchOf(context) {
    /** @param {any[]} given */
    const fetch = async (...given) => {
        requireArguments("execute 'fetch'", given, 1);
        const [input, init] = given;
        const work = tracked(context, loaded(context, globalThis.fetch(input, init)), 'fetch()');
        const signal = signalOf(input, init);
        if (typeof signal?.addEventListener !== 'function') return work;
        return new Promise((resolve, reject) => {
            const abort = () => context.active && reject(signal.reason);
            if (signal.aborted) abort();
            signal.addEventListener('abort', abort);
            work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
        });
    };
    return Object.defineProperties(fetch, { name: { value: 'fetch' }, length: { value: 1 } });
}
