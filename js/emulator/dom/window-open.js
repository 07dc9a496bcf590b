/** window.open() (HTML §7.2.2.1). */

import { trusted } from '../../platform/events.js';

/** @typedef {import('../context.js').Context} Context */

/** A feature that is named, and not by 0 or no (HTML §7.2.5.1). @param {string} features @param {string} name */
function featured(features, name) {
    const found = new RegExp(`(?:^|[\\s,])${name}(?:\\s*=\\s*([^\\s,]*))?(?=$|[\\s,])`, 'i').exec(features);
    return found !== null && (found[1] === undefined || /^(?:|yes|true|[+-]?0*[1-9].*)$/i.test(found[1]));
}

/**
 * Finds an open window by its keyword or its name (§7.3.1.7, "the rules for choosing a navigable"). It must be in the
 * same browsing context group, whose windows share a process.
 *
 * @param {Context} context
 * @param {string} target
 * @returns {Context | undefined} none: another is opened
 */
function chosen(context, target) {
    const { origin, tab } = context;
    switch (target.toLowerCase()) {
        case '':
        case '_self':
            return context;
        case '_parent':
            return context.parent ?? context;
        case '_top':
            return tab.context;
        case '_blank':
            return undefined;
        default: {
            const group = [tab, ...origin.tabs.filter((one) => one !== tab && one.process === tab.process)];
            return group.flatMap((one) => [one.context, ...one.frames]).find(({ name }) => name === target);
        }
    }
}

/** A page that is open stays as it is: what a URL shows is what a test runs there. @param {Context} context */
export function windowOpen(context) {
    const { origin, tab, url: base } = context;
    return (
        /** @type {any} */ url = '',
        /** @type {any} */ target = '_blank',
        /** @type {any} */ features = '',
    ) => {
        const [asked, given, wanted] = [`${url}`.toWellFormed(), `${target}`, `${features ?? ''}`];
        const name = given === '' ? '_blank' : given;
        if (asked && !URL.canParse(asked, base))
            throw new DOMException(`open: '${asked}' is no URL`, 'SyntaxError');
        const { href, origin: its, protocol } = new URL(asked || 'about:blank', base);
        // The emulator opens no tabs of other origins. The script gets null, as for a pop-up that the browser blocks.
        if ((its !== base.origin && protocol !== 'about:') || origin.closed || tab.closed) return null;
        const alone = featured(wanted, 'noopener') || featured(wanted, 'noreferrer');
        const found = chosen(context, name);
        if (found) return alone ? null : found.window;
        const about = protocol === 'about:';
        const at = about ? base : href;
        const opened = origin.openTab(alone ? { url: at } : { opener: tab, url: at });
        if (!alone) opened.openedBy = context;
        if (about) opened.context.address = new URL(href);
        else opened.context.queueTask(() => opened.context.fire(opened.window, trusted(Event, 'load')));
        if (name.toLowerCase() !== '_blank' && !alone) opened.context.name = name;
        return alone ? null : opened.window;
    };
}
