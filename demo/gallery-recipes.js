/** Recipes of the gallery that need no package: what each tab does, and what must not come of it. */

/** @typedef {import('tabacus/emulator').Scenario} Scenario */
/** @typedef {import('tabacus/emulator').InvariantContext} InvariantContext */

/**
 * @typedef {object} Recipe
 * @property {string} name
 * @property {string} claim what must not happen, in the text of the failure
 * @property {Scenario} scenario
 * @property {(context: InvariantContext) => unknown} invariant
 */

/** As tutorials write it. @type {Recipe} */
export const lockAroundStorage = {
    name: 'a Web Lock around localStorage',
    claim: 'an update is lost',
    scenario: async ({ window: { navigator, localStorage } }) => {
        await navigator.locks.request('n', () => {
            const n = Number(localStorage.getItem('n'));
            localStorage.setItem('n', String(n + 1));
        });
    },
    invariant: ({ origin }) =>
        origin.openTab().window.localStorage.getItem('n') === '2' || 'an update is lost',
};

/** The single-executor article's. @type {Recipe} */
export const checkThenAct = {
    name: 'check, then act: the single executor',
    claim: 'two tabs run the job',
    scenario: async ({ window: { localStorage, setTimeout, Math } }) => {
        const me = String(Math.random());
        if (localStorage.getItem('executor')) return false;
        localStorage.setItem('executor', me);
        await new Promise((resolve) => setTimeout(resolve, 10));
        const runsTheJob = localStorage.getItem('executor') === me;
        return runsTheJob;
    },
    invariant: ({ results }) => results.filter(Boolean).length < 2 || 'two tabs run the job',
};

/** A tab writes under its own key, and never over what another wrote. @type {Recipe} */
export const keyOfItsOwn = {
    name: 'a key of its own for each tab, added up by the reader',
    claim: 'an update is lost',
    scenario: async ({ window: { localStorage, crypto } }) => {
        localStorage.setItem(`n/${crypto.randomUUID()}`, '1');
    },
    invariant: ({ origin }) => origin.openTab().window.localStorage.length === 2 || 'an update is lost',
};

export const recipes = Object.freeze([lockAroundStorage, checkThenAct, keyOfItsOwn]);
