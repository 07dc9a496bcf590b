/** The facts about a run that a search of all schedules needs, and that the rules do not note. */

/** @typedef {import('./scenario.js').ScenarioContext} ScenarioContext */

/**
 * `givenUp`: the search has given the run up. `shared`: the scenario has asked for the origin or for other tabs, so that
 * the search cannot see what its tabs share. `seeded`: the scenario has asked for its seed. `random`: a tab has drawn
 * random numbers, which another seed chooses otherwise. `opensDatabases`: a tab has opened or
 * deleted one.
 *
 * @typedef {{ givenUp: boolean, shared: boolean, seeded: boolean, random: boolean,
 *   opensDatabases: boolean }} Found
 */

export class SearchedScenario {
    #shared = false;
    #seeded = false;
    #givenUp = false;
    #origin;
    #searches;

    /** @param {import('./origin.js').Origin} origin @param {boolean} searches whether a search chooses the schedule */
    constructor(origin, searches) {
        this.#origin = origin;
        this.#searches = searches;
    }

    /** Whether the search has given the run up. */
    get givenUp() {
        if (!this.#origin.closed) this.#givenUp ||= this.#origin.rules.givenUp;
        return this.#givenUp;
    }

    /** What the scenario receives, from which a search learns what it asks for. @param {ScenarioContext} given */
    contextOf(given) {
        const share = () => (this.#shared = true);
        return this.#noting(given, { seed: this.#ask, origin: share, tabs: share });
    }

    /**
     * What a setup or an invariant receives, from which a search learns whether it asks for the seed.
     *
     * @template {object} Given
     * @param {Given} given
     */
    noticing(given) {
        return this.#noting(given, { seed: this.#ask });
    }

    #ask = () => (this.#seeded = true);

    /**
     * A copy of an object that calls a function when one of these properties is read.
     *
     * @template {object} Given
     * @param {Given} given
     * @param {Record<string, () => void>} notes
     * @returns {Given}
     */
    #noting(given, notes) {
        if (!this.#searches) return given;
        const copy = { ...given };
        for (const [name, note] of Object.entries(notes)) {
            const value = Reflect.get(given, name);
            const get = () => (note(), value);
            Object.defineProperty(copy, name, { get, enumerable: true });
        }
        return copy;
    }

    /** @returns {Found} */
    get found() {
        const { opensDatabases, drawsRandom: random } = this.#origin;
        return { givenUp: this.#givenUp, shared: this.#shared, seeded: this.#seeded, random, opensDatabases };
    }
}
