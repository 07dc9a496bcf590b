/** A scenario in a module: a Web Lock around localStorage, which loses updates where storage is cached. */

/** @typedef {import('tabacus/emulator').Scenario} Scenario */

/** @type {Scenario} */
export const scenario = async ({ window: { navigator, localStorage } }) => {
    await navigator.locks.request('n', () =>
        localStorage.setItem('n', String(Number(localStorage.getItem('n')) + 1)),
    );
};

/** @param {import('tabacus/emulator').SetupContext} context */
export const setup = ({ origin }) => {
    const tab = origin.openTab();
    tab.window.localStorage.setItem('n', '5');
    return tab.close();
};

/** @param {import('tabacus/emulator').InvariantContext} context */
export const invariant = ({ origin, tabs }) => {
    const n = Number(origin.openTab().window.localStorage.getItem('n'));
    const least = 5 + tabs.filter(({ closed }) => !closed).length;
    return n >= least || `the count is ${n} instead of ${least}`;
};

/** The options for the command line. */
export const options = { tabs: 3, seeds: 200 };
