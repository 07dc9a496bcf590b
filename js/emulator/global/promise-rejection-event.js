/** PromiseRejectionEvent (HTML §8.1.4.7), which Node lacks. */

import { eventInterface } from '../../platform/events.js';
import { forEachGlobal } from '../../platform/web-idl.js';

/** The interface PromiseRejectionEvent. */
export const promiseRejectionEventInterface = /* @__PURE__ */ forEachGlobal(() => {
    const members = {
        promise: {
            convert: (/** @type {unknown} */ value) => value,
            get initial() {
                throw new TypeError('PromiseRejectionEvent: the member promise is missing');
            },
        },
        reason: { convert: (/** @type {unknown} */ value) => value, initial: undefined },
    };
    return eventInterface('PromiseRejectionEvent', members);
});
