/** Lists the tab's events and the errors of calls, the newest first. */

import { make, one } from './dom.js';
import { plural } from './format.js';

/** The largest number of lines, so that a page that stays open for a week does not grow. */
const LINES_max = 50;

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** @param {string} text */
export function log(text) {
    const list = one('#events');
    list.querySelector('.nothing')?.remove();
    const time = make('time', { text: clock.format(new Date()) });
    list.prepend(make('li', {}, time, make('span', { text })));
    while (list.children.length > LINES_max) list.lastElementChild?.remove();
}

/** @param {unknown} error */
export function report(error) {
    const { message = String(error), code } = /** @type {{ message?: string, code?: string }} */ (
        error ?? {}
    );
    log(code ? `${message} (${code})` : message);
}

/** @param {import('../js/index.js').Tab} tab */
export function followEvents(tab) {
    tab.addEventListener('warning', (event) => report(event.detail));
    tab.addEventListener('storelost', ({ detail: { reason, healed } }) => {
        log(`The store was lost. ${reason} ${plural(healed, 'row')} recovered from the backup.`);
    });
}
