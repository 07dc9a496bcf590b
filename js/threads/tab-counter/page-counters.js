/** The page's side of counters over tabs to which threads add. `SharedTabCounter` is the thread's side. */

import { gatherEnd, gatherFlush, gatherNew, gatherNow, gatherRead } from '../../core/generated/gather.js';
import { Lazy } from '../../common/lazy.js';
import { cellsFields } from './cells-layout.js';
import { PageCells } from './page-cells.js';

/** The shortest time between two gathers that no thread has asked for: about a frame. */
const pause_ms = 16;

/** The time after which the piece with the gatherers is loaded again, if it could not be loaded. */
const retry_ms = 1_000;

/**
 * The part of a tab that counters use.
 *
 * @typedef {object} CounterSource
 * @property {any} _engine the engine of the tab
 * @property {(name: string) => object} counter
 */

/** A gatherer of the tab's program, and the number of its cells. @typedef {{ address: number, number: number }} Gatherer */

/**
 * The counters of one memory, whose sums the page gathers into the counters of its tab. A gatherer does that
 * in C++ (tabacus/replica/gatherer.hpp); this class decides when.
 */
export class PageCounters {
    #core;
    #tab;

    /** The gatherers, by the addresses of their cells. @type {Map<number, Gatherer>} */
    #gatherers = new Map();

    /** The reads and flushes that have not ended. @type {Set<Promise<unknown>>} */
    #asked = new Set();

    #paused = false;
    #again = false;

    /** The bridge of the tab's program, once the piece with the gatherers is loaded. */
    #bridge = new Lazy(async () => {
        const { _engine: engine } = this.#tab;
        await engine.load('gather');
        return /** @type {import('../../core/bridge.js').Bridge} */ (engine.bridge);
    });

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {CounterSource} tab
     */
    constructor(core, tab) {
        this.#core = core;
        this.#tab = tab;
    }

    /** Gathers at once, or after a pause since the last gather. Called when a thread has rung the bell. */
    gatherSoon() {
        if (this.#core.ops.cells_next(this.#core.root, 0) === 0) return;
        this.#again = true;
        if (!this.#paused) this.#gather();
    }

    /** Gathers, and once more after the pause if a thread has rung the bell meanwhile. */
    #gather() {
        if (this.#core.closed) return;
        this.#paused = true;
        this.#again = false;
        setTimeout(() => {
            this.#paused = false;
            if (this.#again) this.#gather();
        }, pause_ms);
        // A failure is reported to the threads that flush or read. Until then the sums stay in the cells.
        this.#gatherAll().catch((error) => this.#retry(error));
    }

    /**
     * Gathers later, if the piece with the gatherers could not be loaded. No thread rings the bell again before
     * its cells are gathered.
     *
     * @param {{ code?: string }} error
     */
    #retry({ code }) {
        if (this.#bridge.value || code === 'closed') return;
        setTimeout(() => {
            if (!this.#core.closed) this.gatherSoon();
        }, retry_ms);
    }

    /** Gathers into every counter. */
    async #gatherAll() {
        const bridge = this.#bridge.value ?? (await this.#bridge.get());
        if (this.#core.closed) return;
        for (const cells of this.#cells()) gatherNow(bridge, this.#gathererOf(bridge, cells).address);
    }

    /** Iterates over the addresses of all cells. */
    *#cells() {
        const { ops, root } = this.#core;
        for (let cells = 0; (cells = ops.cells_next(root, cells)) !== 0;) yield cells;
    }

    /**
     * Commits or reads a counter on behalf of a thread.
     *
     * @param {string} name
     * @param {boolean} reads
     * @returns {Promise<number>} the value that was read; 0 after a commit. Rejects as `flush()` and `read()`
     *   of the tab's counter do, and with `out-of-range`
     */
    async serve(name, reads) {
        const bridge = await this.#bridge.get();
        this.#core.assertOpen();
        const { address } = this.#gathererOf(bridge, this.#core.openCells(name));
        const asked = reads ? gatherRead(bridge, address) : gatherFlush(bridge, address);
        this.#asked.add(asked);
        try {
            return (await asked) ?? 0;
        } finally {
            this.#asked.delete(asked);
        }
    }

    /**
     * Gathers from all cells for the last time, and ends all gatherers. If the piece with the gatherers is not
     * loaded yet, nothing can be gathered. Requires that the attachment is not given back yet.
     */
    close() {
        const bridge = this.#bridge.value;
        if (!bridge) return;
        for (const cells of this.#cells()) {
            try {
                gatherNow(bridge, this.#gathererOf(bridge, cells).address);
            } catch {
                // The tab is closed, so that nothing can be counted any more.
            }
        }
        for (const { number } of this.#gatherers.values()) PageCells.of(bridge).remove(number);
        const addresses = [...this.#gatherers.values()].map(({ address }) => address);
        this.#gatherers.clear();
        Promise.allSettled(this.#asked)
            .then(() => addresses.forEach((address) => gatherEnd(bridge, address)))
            .catch(() => {}); // the program has ended
    }

    /**
     * Returns the gatherer of the cells at an address, and makes it if there is none.
     *
     * @param {import('../../core/bridge.js').Bridge} bridge
     * @param {number} cells
     * @returns {Gatherer}
     */
    #gathererOf(bridge, cells) {
        const known = this.#gatherers.get(cells);
        if (known) return known;
        const { words, units } = this.#core;
        const begin = (cells + cellsFields.name) >> 1;
        const end = begin + Number(words[(cells + cellsFields.nameUnits) >> 2]);
        /** @type {any} */
        const counter = this.#tab.counter(String.fromCharCode(...units.subarray(begin, end)));
        const number = PageCells.of(bridge).add(this.#core, cells);
        const made = { address: gatherNew(bridge, counter._address, number), number };
        this.#gatherers.set(cells, made);
        return made;
    }
}
