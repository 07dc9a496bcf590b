/** Shows a trace as a list, and steps through it by buttons or by the arrow keys. */

import { make, one } from './dom.js';

/** @param {string} trace a line for each event; the failure is last */
export function showTimeline(trace) {
    const list = one('#timeline');
    const lines = trace.trimEnd().split('\n');
    list.replaceChildren(...lines.map((text) => make('li', { text })));
    const { length } = lines;
    let at = 0;
    /** @param {number} next */
    const go = (next) => {
        at = Math.min(Math.max(next, 0), length - 1);
        for (const [index, item] of [...list.children].entries()) {
            item.classList.toggle('later', index > at);
            if (index === at) item.setAttribute('aria-current', 'step');
            else item.removeAttribute('aria-current');
        }
        list.children[at]?.scrollIntoView({ block: 'nearest' });
        one('#timeline-step').textContent = `Step ${at + 1} of ${length}: ${lines[at]?.trim()}`;
    };
    const buttons = { first: () => 0, back: () => at - 1, on: () => at + 1, last: () => length - 1 };
    for (const [name, next] of Object.entries(buttons)) {
        /** @type {HTMLButtonElement} */ (one(`#timeline-${name}`)).onclick = () => go(next());
    }
    /** @type {Record<string, () => number>} */
    const keys = {
        ArrowUp: buttons.back,
        ArrowLeft: buttons.back,
        ArrowDown: buttons.on,
        ArrowRight: buttons.on,
        Home: buttons.first,
        End: buttons.last,
    };
    /** @type {HTMLElement} */ (list).onkeydown = (event) => {
        const next = keys[event.key];
        if (!next) return;
        event.preventDefault();
        go(next());
    };
    go(0);
}
