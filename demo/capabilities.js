/** Shows `tab.capabilities` as sentences. */

import { make, one } from './dom.js';

/** @typedef {import('../js/index.js').Capabilities} Capabilities */

const STORE = {
    indexeddb: 'IndexedDB. Its transactions are the one store of a tab that puts things in order.',
    localstorage: 'localStorage only. Every tab still has a row of its own, but no commit is certain.',
    memory: 'Nothing is stored here. Counts live as long as their tabs.',
};

const EXCLUSION = {
    'web-locks': 'Web Locks. The browser frees what a closed or crashed tab held.',
    lease: 'By leases in IndexedDB, for want of Web Locks: a dead holder is noticed only after its lease.',
    none: 'No locks. Each tab takes a new row instead of one that was given up.',
};

const DURABILITY = {
    strict: 'Up to “strict”: a commit can be made to wait for the disk.',
    relaxed: '“Relaxed”: a commit survives the tab, and a crash of the machine may undo the last ones.',
    memory: 'None: nothing outlives the tabs.',
};

/**
 * @param {Capabilities} capabilities
 * @returns {[string, string][]}
 */
function sentences({ store, exclusion, durability, mirror, channel }) {
    return [
        ['Store', STORE[store]],
        ['Exclusion', EXCLUSION[exclusion]],
        ['Durability', DURABILITY[durability]],
        [
            'Backup',
            mirror
                ? 'Totals are kept in localStorage too. If the database is lost, they bring it back.'
                : 'None. If the store is lost, that is reported, and cannot be recovered.',
        ],
        [
            'News',
            channel
                ? 'BroadcastChannel. Other tabs see an increment at once.'
                : 'None. Other tabs see an increment when they next read.',
        ],
    ];
}

/** @param {Capabilities} capabilities */
export function showCapabilities(capabilities) {
    const facts = sentences(capabilities).map(([term, text]) =>
        make('div', {}, make('dt', { text: term }), make('dd', { text })),
    );
    one('#capabilities').replaceChildren(...facts);
}
