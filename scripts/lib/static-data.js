/** Decides which static data of a program moves from the primary module to another piece, and writes its segments. */

import { writeSegment } from './program-text.js';

/** @typedef {import('./program-text.js').Text} Text */

/** @typedef {{ from: number, to: number, objects: number[] }} Group  objects that may begin within one another */

/** The byte at an address; 0 where nothing is written. @param {Text} program @returns {(at: number) => number} */
function reader({ data }) {
    return (at) => {
        const segment = data.find(({ at: from, bytes }) => from <= at && at < from + bytes.length);
        return segment?.bytes[at - segment.at] ?? 0;
    };
}

/**
 * The objects in groups that stay together. The linker may let one text begin within another, so a group extends to a
 * byte 0.
 *
 * @param {number[]} objects ascending
 * @param {number} dataEnd
 * @param {(at: number) => number} byteAt
 */
function groupsOf(objects, dataEnd, byteAt) {
    /** @type {Group[]} */
    const groups = [];
    objects.forEach((object, i) => {
        const to = objects[i + 1] ?? dataEnd;
        const last = groups.at(-1);
        if (last && byteAt(object - 1) !== 0) {
            last.objects.push(object);
            last.to = to;
        } else {
            groups.push({ from: object, to, objects: [object] });
        }
    });
    return groups;
}

/**
 * Whether no other object can begin within the group, and the group cannot begin within another object. This is so for
 * two kinds of objects: virtual tables and texts. A virtual table follows the two words before its functions (Itanium
 * C++ ABI §2.5.2), and has a 0 in place of a function that nothing calls. Texts follow a byte 0 and end with one.
 *
 * @param {Text} program
 * @param {Group} group
 * @param {(at: number) => number} byteAt
 */
function isMovable({ table, tableBase }, { from, to }, byteAt) {
    const bytes = Array.from({ length: to - from }, (_, i) => byteAt(from + i));
    const view = new DataView(Uint8Array.from(bytes).buffer);
    const isFunction = (/** @type {number} */ word) => word >= tableBase && word < tableBase + table.length;
    const words = Array.from({ length: bytes.length >> 2 }, (_, i) => view.getUint32(4 * i, true));
    if (from % 4 === 0 && words.some(isFunction)) {
        const head = Array.from({ length: 8 }, (_, i) => byteAt(from - 1 - i));
        return words.every((word) => word === 0 || isFunction(word)) && head.every((byte) => byte === 0);
    }
    const length = bytes.indexOf(0);
    const text = bytes.slice(0, length);
    const padding = bytes.slice(length);
    return length > 0 && text.every((byte) => byte >= 0x20) && padding.every((byte) => byte === 0);
}

/**
 * The module of each object. It is the primary module if that refers to the object, or if the object cannot move.
 *
 * @param {Text} program
 * @param {number[]} objects ascending
 * @param {(object: number) => string} moduleOf the module that refers to an object; if several do, the shared one
 * @param {{ primary: string, shared: string }} names
 * @returns {Map<number, string>}
 */
export function ownersOf(program, objects, moduleOf, { primary, shared }) {
    const dataEnd = Math.max(...program.data.map(({ at, bytes }) => at + bytes.length));
    const byteAt = reader(program);
    /** @type {Map<number, string>} */
    const owners = new Map();
    for (const group of groupsOf(objects, dataEnd, byteAt)) {
        const users = [...new Set(group.objects.map(moduleOf))];
        const user = users.includes(primary) ? primary : users.length > 1 ? shared : (users[0] ?? primary);
        const owner = isMovable(program, group, byteAt) ? user : primary;
        for (const object of group.objects) owners.set(object, owner);
    }
    return owners;
}

/** Zeros up to this number stay within a segment: compressed, they are shorter than the head of another segment. */
const zerosMax = 40;

/**
 * The segments of a module. Long runs of zeros are left out, since memory is zero at first. A segment contains no byte
 * of another module, since that one may have changed it before this module is loaded.
 *
 * @param {Text} program
 * @param {(at: number) => boolean} isOwn
 */
export function segmentsOf(program, isOwn) {
    /** @type {import('./program-text.js').Segment[]} */
    const segments = [];
    for (const { at, bytes } of program.data) {
        /** The range of indices that the next segment covers. */
        let [begin, end] = [0, 0];
        const close = () => {
            if (end > begin) segments.push({ at: at + begin, bytes: bytes.slice(begin, end) });
        };
        for (const [i, byte] of bytes.entries()) {
            const own = isOwn(at + i);
            if (!own || i - end > zerosMax) {
                close();
                [begin, end] = [i + 1, i + 1];
            }
            if (!own || byte === 0) continue;
            if (end <= begin) begin = i;
            end = i + 1;
        }
        close();
    }
    return segments.map(writeSegment);
}
