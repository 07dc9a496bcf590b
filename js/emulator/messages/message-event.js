/** MessageEvent (HTML §9.2). It is apart from the other events, since it knows ports, and ports know the rules. */

import { eventInterface, text, usv } from '../../platform/events.js';
import { forEachGlobal } from '../../platform/web-idl.js';
import { isPort } from './post-message.js';

/** @typedef {import('../../platform/events.js').Member} Member */

/** @type {Member} a window or a port */
const messageSource = {
    initial: null,
    convert: (value) => {
        if (value !== null && !(value instanceof EventTarget))
            throw new TypeError('MessageEvent: the source is no window and no port');
        return value;
    },
};

/** @type {Member} a FrozenArray<MessagePort> */
const ports = {
    initial: Object.freeze([]),
    convert: (value) => {
        const listed =
            typeof value === 'object' && value !== null && typeof value[Symbol.iterator] === 'function'
                ? [...value]
                : [undefined];
        if (!listed.every(isPort)) throw new TypeError('MessageEvent: the ports are not a sequence of ports');
        return Object.freeze(listed);
    },
};

/** The interface MessageEvent (HTML §9.2). That of Node is not used, since it does not accept a window as a source. */
export const messageEventInterface = /* @__PURE__ */ forEachGlobal(() => {
    const members = {
        data: { convert: (/** @type {unknown} */ value) => value, initial: null },
        lastEventId: text,
        origin: usv,
        ports,
        source: messageSource,
    };
    return eventInterface('MessageEvent', members, ['data', 'origin', 'lastEventId', 'source', 'ports']);
});
