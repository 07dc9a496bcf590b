/** The recipes of the gallery that need no package: what each tab does, and which result must not occur. */

/** @typedef {import('tabacus/emulator').Scenario} Scenario */
/** @typedef {import('tabacus/emulator').InvariantContext} InvariantContext */

/**
 * @typedef {object} Recipe
 * @property {string} name
 * @property {string} claim what must not happen, as the failure describes it
 * @property {Scenario} scenario
 * @property {(context: InvariantContext) => unknown} invariant
 */

/** An increment under a Web Lock, as in tutorials. @type {Recipe} */
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

/**
 * A tab that checks for another executor and then becomes it, as in articles on the single executor.
 *
 * @type {Recipe}
 */
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

/** A tab writes only under a key of its own, so that it overwrites nothing of another tab. @type {Recipe} */
export const keyOfItsOwn = {
    name: 'a key of its own for each tab, added up by the reader',
    claim: 'an update is lost',
    scenario: async ({ window: { localStorage, crypto } }) => {
        localStorage.setItem(`n/${crypto.randomUUID()}`, '1');
    },
    invariant: ({ origin }) => origin.openTab().window.localStorage.length === 2 || 'an update is lost',
};

export const recipes = Object.freeze([lockAroundStorage, checkThenAct, keyOfItsOwn]);
