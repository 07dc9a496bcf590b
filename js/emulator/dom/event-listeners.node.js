import { getEventListeners } from 'node:events';

/**
 * Whether a target has a listener for events of a type.
 *
 * @type {(target: EventTarget, type: string) => boolean}
 */
export const hasListener = (target, type) => getEventListeners(target, type).length > 0;
