/** The books that were read last in any tab, in order. A lock protects the list. */

/** @typedef {{ book: string, page: number, pages: number }} Position */

const STORE = 'history';

/** How many books are kept downloaded. */
const LATEST_max = 2;

export class History {
    #lock;

    /** @param {import('../../js/index.js').Tab} tab */
    constructor(tab) {
        this.#lock = tab.lock('history');
    }

    /** @returns {Promise<Position[]>} the newest first */
    latest() {
        return this.#lock.run((held) =>
            held.commit(STORE, async (tx) => (await tx.get(STORE, 'latest')) ?? []),
        );
    }

    /** @param {Position} position */
    async remember(position) {
        await this.#lock.run((held) =>
            held.commit(STORE, async (tx) => {
                /** @type {Position[]} */
                const before = (await tx.get(STORE, 'latest')) ?? [];
                const others = before.filter(({ book }) => book !== position.book);
                tx.put(STORE, 'latest', [position, ...others].slice(0, LATEST_max));
            }),
        );
    }
}
