/** Formats numbers as text. */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3, notation: 'compact' });

/** @param {number} value */
export function integer(value) {
    return whole.format(value).replace('-', '−');
}

/** Formats a number with three digits: 12,345,678 becomes 12.3M. @param {number} value */
export function compact(value) {
    return short.format(value);
}

/**
 * Formats a share in per cent. Only 0 is shown as 0 %, and only 1 as 100 %, since the demo is about whether anything
 * is lost at all.
 *
 * @param {number} share
 */
export function percent(share) {
    const value = share * 100;
    const size = Math.abs(value);
    if (size === 0) return '0 %';
    if (size < 0.01) return value < 0 ? '> −0.01 %' : '< 0.01 %';
    if (size > 99 && size < 100) return `${(Math.floor(value * 100) / 100).toFixed(2)} %`;
    return `${value.toFixed(size < 1 ? 2 : 0)} %`.replace('-', '−');
}

/**
 * @param {number} count
 * @param {string} noun
 * @param {string} [many]
 */
export function plural(count, noun, many = `${noun}s`) {
    return `${integer(count)} ${count === 1 ? noun : many}`;
}
