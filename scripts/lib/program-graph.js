/**
 * The graph of references in a program. Functions refer to functions by calls and by indices of the table, and to
 * objects of static data by their addresses; such an object contains indices and addresses too. For this analysis, the
 * program is linked with a table and data that begin so high that no other constant looks like an index or an address
 * (cmake/tab.cmake).
 */

/** @typedef {import('./program-text.js').Text} Text */

/** The name of a function, or the address of an object of static data. @typedef {string | number} Item */

/**
 * @typedef {object} Graph
 * @property {Map<Item, Set<Item>>} edges
 * @property {number[]} objects the addresses of objects, ascending: each object extends to the next one
 */

/**
 * @param {Text} program
 * @returns {Graph}
 */
export function graphOf(program) {
    const { functions, table, tableBase, data } = program;
    const dataBase = Math.min(...data.map(({ at }) => at));
    const dataEnd = Math.max(...data.map(({ at, bytes }) => at + bytes.length));
    const isAddress = (/** @type {number} */ n) => n >= dataBase && n < dataEnd;
    const isIndex = (/** @type {number} */ n) => n >= tableBase && n < tableBase + table.length;
    const words = data.flatMap(wordsOf).filter(([, n]) => isAddress(n) || isIndex(n));
    const named = [...functions.values()].flatMap(({ numbers }) => [...numbers]);
    const objects = [...new Set([...named, ...words.map(([, n]) => n)].filter(isAddress))].sort(
        (a, b) => a - b,
    );
    /** @returns {Item[]} */
    const target = (/** @type {number} */ n) =>
        isIndex(n) ? [table[n - tableBase] ?? ''] : isAddress(n) ? [objectAt(objects, n)] : [];
    /** @type {Graph['edges']} */
    const edges = new Map(objects.map((object) => [object, new Set()]));
    for (const [at, n] of words) target(n).forEach((item) => edges.get(objectAt(objects, at))?.add(item));
    for (const [name, { calls, numbers }] of functions)
        edges.set(name, new Set([...calls, ...[...numbers].flatMap(target)]));
    return { edges, objects };
}

/**
 * The aligned words of a segment, each with its address.
 *
 * @param {import('./program-text.js').Segment} segment
 * @returns {[at: number, word: number][]}
 */
function wordsOf({ at, bytes }) {
    const view = new DataView(bytes.buffer);
    const first = -at & 3;
    return Array.from({ length: Math.max(0, (bytes.length - first) >> 2) }, (_, i) => [
        at + first + 4 * i,
        view.getUint32(first + 4 * i, true),
    ]);
}

/**
 * The object that contains an address; the first object for an address before it.
 *
 * @param {number[]} objects
 * @param {number} address
 */
export function objectAt(objects, address) {
    let [low, high] = [0, objects.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (/** @type {number} */ (objects[middle]) <= address) low = middle + 1;
        else high = middle;
    }
    return objects[Math.max(0, low - 1)] ?? 0;
}

/**
 * @param {Graph['edges']} edges
 * @param {Item[]} roots
 * @returns {Set<Item>} the roots and everything that they reach
 */
export function reached(edges, roots) {
    /** @type {Set<Item>} */
    const seen = new Set();
    const open = [...roots];
    for (let item = open.pop(); item !== undefined; item = open.pop()) {
        if (seen.has(item)) continue;
        seen.add(item);
        open.push(...(edges.get(item) ?? []));
    }
    return seen;
}
