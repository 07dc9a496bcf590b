/** The cells of threads, as the gatherers of a tab's program use them (tabacus/replica/gatherer.hpp). */

import { callCells } from '../../core/generated/cells-calls.js';

/** @typedef {import('../../core/bridge.js').Bridge} Bridge */
/** @typedef {import('../thread-core.js').ThreadCore} ThreadCore */

/** The cells of each program. @type {WeakMap<Bridge, PageCells>} */
const all = new WeakMap();

/** The cells that the gatherers of one program use, by their numbers. */
export class PageCells {
    /** The memory and the address of each. @type {Map<number, { core: ThreadCore, address: number }>} */
    #cells = new Map();

    #last = 0;

    /** Returns the cells of a program, which from then on calls them. @param {Bridge} bridge */
    static of(bridge) {
        const known = all.get(bridge);
        if (known) return known;
        const cells = new PageCells();
        all.set(bridge, cells);
        bridge.callCells = (...call) => callCells(cells, ...call);
        // The program calls this before coordination is loaded, which replaces it by calls of its own.
        if (!bridge.coordination) bridge.callFurther = (_, ...call) => callCells(cells, ...call);
        return cells;
    }

    /**
     * Adds the cells at an address in the memory of threads.
     *
     * @param {ThreadCore} core
     * @param {number} address
     * @returns {number} their number
     */
    add(core, address) {
        this.#cells.set(++this.#last, { core, address });
        return this.#last;
    }

    /** Removes cells: from then on they are empty. @param {number} number */
    remove(number) {
        this.#cells.delete(number);
    }

    /** Begins a gather. Returns what was not taken yet. @param {number} number */
    gather(number) {
        const cells = this.#cells.get(number);
        return cells ? cells.core.ops.cells_gather(cells.address) : 0;
    }

    /**
     * Takes what is counted.
     *
     * @param {number} number
     * @param {number} n
     */
    take(number, n) {
        const cells = this.#cells.get(number);
        cells?.core.ops.cells_take(cells.address, n);
    }

    /**
     * Publishes the tab's value.
     *
     * @param {number} number
     * @param {number} value
     */
    publish(number, value) {
        const cells = this.#cells.get(number);
        cells?.core.ops.cells_publish(cells.address, value);
    }
}
