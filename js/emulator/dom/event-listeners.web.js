/**
 * Whether a target may have a listener for events of a type. A page cannot know it.
 *
 * @type {(target: EventTarget, type: string) => boolean}
 */
export const hasListener = () => true;
