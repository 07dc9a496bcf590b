/** Shows the open tabs as a row of numbered chips, and the number of this tab in its title. */

import { make, one } from './dom.js';
import { plural } from './format.js';

/** @param {import('./presence.js').Presence} presence */
export function showTabs(presence) {
    document.title = `${presence.me.seat} · ${document.title}`;
    presence.subscribe((tabs) => {
        one('#tabs-count').textContent = `${plural(tabs.length, 'tab')} open`;
        one('#tabs').replaceChildren(...tabs.map(chip));
    });
}

/** @param {import('./presence.js').OpenTab} tab */
function chip({ id, seat, mine }) {
    const item = make('li', { class: mine ? 'chip mine' : 'chip', text: String(seat) });
    if (mine) item.append(make('span', { text: ' this one' }));
    item.dataset['tab'] = id;
    return item;
}
