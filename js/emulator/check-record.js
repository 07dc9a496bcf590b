/** The argument of corrupt(), which names a record of localStorage or of a database. */

import { checkOptions } from '../common/check-arguments.js';
import { invalid } from '../common/errors.js';

/** @param {any} given @returns {{ key: any, value?: any, database?: string, store?: string }} */
export function checkRecord(given) {
    if (typeof given === 'string') return { key: given };
    const { key, value, database, store } = Object(given);
    const isText = (/** @type {unknown} */ one) => typeof one === 'string' || typeof one === 'number';
    const inStorage =
        database === undefined &&
        store === undefined &&
        isText(key) &&
        (value === undefined || value === null || isText(value));
    const inDatabase = typeof database === 'string' && typeof store === 'string' && key !== undefined;
    if (!inStorage && !inDatabase) {
        throw invalid(
            'record',
            given,
            'a key, or { key, value, database, store }, of which the last two go together: of localStorage a key and a value that are texts, of a database their names',
        );
    }
    return /** @type {any} */ (checkOptions(given, ['key', 'value', 'database', 'store'], 'record'));
}
