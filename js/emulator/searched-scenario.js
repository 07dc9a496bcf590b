/** What a search of all schedules has to know about a run, besides what the rules note. */

/** @typedef {import('./scenario.js').ScenarioContext} ScenarioContext */

/**
 * `givenUp`: the search has given the run up. `shared`: the scenario has asked for the origin or for other tabs, so that
 * the search cannot see what its tabs share. `seeded`: the scenario has asked for its seed. `random`: a tab has drawn
 * random numbers, which another seed chooses otherwise. `unscheduled`: something has happened in an order that no
 * schedule chooses.
 *
 * @typedef {{ givenUp: boolean, shared: boolean, seeded: boolean, random: boolean, unscheduled: boolean }} Found
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
        if (!this.#searches) return given;
        const { index, origin, tabs, seed } = given;
        const share = () => (this.#shared = true);
        const ask = () => (this.#seeded = true);
        return {
            index,
            get seed() {
                ask();
                return seed;
            },
            get origin() {
                share();
                return origin;
            },
            get tabs() {
                share();
                return tabs;
            },
        };
    }

    /**
     * What a setup or an invariant receives, from which a search learns whether it asks for the seed.
     *
     * @template {{ seed: number }} Given
     * @param {Given} given
     * @returns {Given}
     */
    noticing(given) {
        if (!this.#searches) return given;
        const { seed } = given;
        const get = () => {
            this.#seeded = true;
            return seed;
        };
        return Object.defineProperty({ ...given }, 'seed', { get, enumerable: true });
    }

    /** @returns {Found} */
    get found() {
        const { unscheduled, drawsRandom: random } = this.#origin;
        return { givenUp: this.#givenUp, shared: this.#shared, seeded: this.#seeded, random, unscheduled };
    }
}
