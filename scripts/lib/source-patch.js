/**
 * Finds the place of a planted fault by the tokens of its text, so that a formatter may break the lines differently.
 */

/** @param {string} token */
const escaped = (token) => token.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** @param {string} find */
function patternOf(find) {
    const tokens = find.match(/\w+|[^\w\s]/g) ?? [];
    const parts = tokens.map((token, at) => {
        const separator = /\w$/.test(tokens[at - 1] ?? '') && /^\w/.test(token) ? '\\s+' : '\\s*';
        return at === 0 ? escaped(token) : separator + escaped(token);
    });
    const [first = '', last = ''] = [tokens[0], tokens.at(-1)];
    const [begin, end] = [/^\w/.test(first) ? '\\b' : '', /\w$/.test(last) ? '\\b' : ''];
    return new RegExp(begin + parts.join('') + end, 'g');
}

/**
 * The source with `replace` in the place of `find`.
 *
 * @param {string} source
 * @param {string} find compared token by token; white space counts only where it separates two words
 * @param {string} replace
 * @returns {string | undefined} undefined unless the source has `find` exactly once
 */
export function patchSource(source, find, replace) {
    const places = [...source.matchAll(patternOf(find))];
    const [place] = places;
    if (!place || places.length > 1) return undefined;
    return source.slice(0, place.index) + replace + source.slice(place.index + place[0].length);
}
