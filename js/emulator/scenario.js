/** The arguments of scenarios, setups and invariants. */

/** @typedef {import('./origin.js').Origin} Origin */
/** @typedef {import('./emulated-tab.js').Tab} Tab */

/**
 * What a scenario receives besides its tab.
 * @typedef {object} ScenarioContext
 * @property {number} index of the tab, from 0
 * @property {Origin} origin
 * @property {readonly Tab[]} tabs
 * @property {number} seed
 */

/** @typedef {(tab: Tab, context: ScenarioContext) => unknown} Scenario */

/**
 * What a setup receives, before the scenario is called.
 * @typedef {object} SetupContext
 * @property {Origin} origin the origin, in which the setup may open tabs of its own
 * @property {number} seed
 */

/**
 * What an invariant receives, once no event can happen.
 * @typedef {object} InvariantContext
 * @property {Origin} origin the origin, in which the invariant may open further tabs
 * @property {readonly Tab[]} tabs the tabs of the run; a killed one is `closed`
 * @property {unknown[]} results what the scenario returned in each tab; undefined if it did not end there
 * @property {number} seed
 */

export {};
