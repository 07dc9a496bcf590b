/** The books and comics of the reader. Their pages, texts and drawings, are generated from their numbers. */

/** @typedef {'book' | 'comic'} Kind */
/** @typedef {{ id: string, title: string, author: string, kind: Kind, pages: number }} Book */

/** @type {readonly Book[]} */
export const BOOKS = Object.freeze([
    { id: 'tale', title: 'A Tale of Two Tabs', author: 'Charlotte Dixon', kind: 'book', pages: 24 },
    { id: 'lease', title: 'The Lock and the Lease', author: 'L. Lampard', kind: 'book', pages: 18 },
    { id: 'quorum', title: 'One Quorum at a Time', author: 'B. Liskova', kind: 'book', pages: 30 },
    { id: 'fence', title: 'Captain Fence', author: 'Kleppe and Mann', kind: 'comic', pages: 16 },
    { id: 'freeze', title: 'The Frozen Holder', author: 'Nadia Frost', kind: 'comic', pages: 12 },
    { id: 'crash', title: 'Crash and Return', author: 'J. Gray', kind: 'comic', pages: 20 },
]);

const WORDS = (
    'the tab opened before dawn and every other one was already awake they counted in silence each in a row of ' +
    'its own for nobody had told them who would be first a lock is a promise said the eldest and a promise can be ' +
    'late so they wrote the number down beside the door and whoever came with an older number was sent away kindly'
).split(' ');

const COLOURS = ['#0f766e', '#2563eb', '#b45309', '#7e22ce', '#be185d', '#4d7c0f'];

/**
 * @param {string} id
 * @returns {Book | undefined}
 */
export const bookOf = (id) => BOOKS.find((book) => book.id === id);

/**
 * @param {Book} book
 * @param {number} page from 1 to `book.pages`
 * @returns {{ type: string, body: string }}
 */
export function pageOf(book, page) {
    const random = numbers(seedOf(`${book.id}/${page}`));
    if (book.kind === 'book') return { type: 'text/plain; charset=utf-8', body: text(book, page, random) };
    return { type: 'image/svg+xml', body: drawing(book, page, random) };
}

/**
 * @param {Book} book
 * @param {number} page
 * @param {(below: number) => number} random
 */
function text(book, page, random) {
    const sentence = () => {
        const words = Array.from({ length: 7 + random(9) }, () => WORDS[random(WORDS.length)]).join(' ');
        return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
    };
    const paragraph = () => Array.from({ length: 3 + random(3) }, sentence).join(' ');
    const title = page === 1 ? `${book.title}\nby ${book.author}\n\n` : '';
    return `${title}${Array.from({ length: 3 }, paragraph).join('\n\n')}\n`;
}

/**
 * Draws four panels, each with a sky, some hills and a person in front of them.
 *
 * @param {Book} book
 * @param {number} page
 * @param {(below: number) => number} random
 */
function drawing(book, page, random) {
    const panels = [0, 1, 2, 3].map((index) =>
        panel(12 + (index % 2) * 192, 12 + Math.floor(index / 2) * 222, random),
    );
    return [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 480" width="400" height="480">',
        '<rect width="400" height="480" fill="#faf8f2"/>',
        ...panels,
        `<text x="200" y="471" text-anchor="middle" font-family="sans-serif" font-size="12" fill="#5f5a52">`,
        `${book.title}, ${page}</text></svg>\n`,
    ].join('');
}

/**
 * @param {number} x
 * @param {number} y
 * @param {(below: number) => number} random
 */
function panel(x, y, random) {
    const colour = () => COLOURS[random(COLOURS.length)];
    const hill = () =>
        `<path d="M0 ${120 + random(60)} Q${40 + random(50)} ${60 + random(70)} 92 ${130 + random(30)} ` +
        `T184 ${110 + random(60)} V210 H0 Z" fill="${colour()}" opacity="0.${3 + random(5)}"/>`;
    const head = { x: 40 + random(104), y: 118 + random(30) };
    const body = `M${head.x - 20} 210 Q${head.x} ${head.y - 8} ${head.x + 20} 210 Z`;
    return [
        `<svg x="${x}" y="${y}" width="184" height="210">`,
        `<rect width="184" height="210" fill="${colour()}" opacity="0.15"/>`,
        `<circle cx="${20 + random(144)}" cy="${25 + random(30)}" r="${10 + random(10)}" fill="#fbbf24"/>`,
        hill(),
        hill(),
        `<path d="${body}" fill="#1c1917"/><circle cx="${head.x}" cy="${head.y}" r="15" fill="#fde68a" stroke="#1c1917"/>`,
        `<rect x="1" y="1" width="182" height="208" fill="none" stroke="#1c1917" stroke-width="2"/></svg>`,
    ].join('');
}

/** A hash of a text (FNV-1a). @param {string} text */
function seedOf(text) {
    let hash = 0x811c9dc5;
    for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
    return hash >>> 0;
}

/**
 * Pseudo-random numbers (Marsaglia's xorshift32). The same seed gives the same page every time.
 *
 * @param {number} seed
 * @returns {(below: number) => number} draws an integer from 0 to `below` - 1
 */
export function numbers(seed) {
    let state = seed || 1;
    return (below) => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) % below;
    };
}
