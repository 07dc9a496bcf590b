/**
 * Jepsen's rule for counters (jepsen.checker/counter), for increments of both signs: each read lies between the least
 * and the greatest value that the increments so far can have produced.
 *
 * An increment that was acknowledged when the read began has happened. One that was not attempted when the read ended
 * has not. Every other one may or may not have happened. So the lower bound is the sum of the acknowledged increments
 * and the attempted decrements, and the upper bound is the sum of the attempted increments and the acknowledged
 * decrements. An increment whose tab died has an unknown outcome: it stays attempted, and so it only widens the bounds.
 */

/**
 * @typedef {{ type: 'attempt' | 'acknowledge', plus: number, minus: number, by?: number }} Addition
 *   `plus`: the sum of the positive amounts; `minus`: the sum of the sizes of the negative ones; `by`: the tab
 * @typedef {{ type: 'read-begin', id: string }} ReadBegin
 * @typedef {{ type: 'read-end', id: string, value: number }} ReadEnd
 * @typedef {{ type: 'asked' } | { type: 'granted', token: number }} OfLock  an event of a lock, which the rule ignores
 * @typedef {Addition | ReadBegin | ReadEnd | OfLock} Event
 */

/**
 * @typedef {object} Read
 * @property {string} id
 * @property {number} value
 * @property {number} lower
 * @property {number} upper
 */

/**
 * @param {Event[]} history  in the order in which it was recorded
 * @returns {{ valid: boolean, reads: Read[], errors: Read[], attempted: number, acknowledged: number }}
 */
export function checkCounter(history) {
    const attempted = { plus: 0, minus: 0 };
    const acknowledged = { plus: 0, minus: 0 };
    /** @type {Map<string, { plus: number, minus: number }>} read → acknowledged when it began */
    const begun = new Map();
    /** @type {Read[]} */
    const reads = [];
    for (const event of history) {
        if (event.type === 'attempt') count(attempted, event);
        else if (event.type === 'acknowledge') count(acknowledged, event);
        else if (event.type === 'read-begin') begun.set(event.id, { ...acknowledged });
        else if (event.type === 'read-end') {
            reads.push(judge(event, known(begun, event.id), attempted));
        }
    }
    assertPossible(acknowledged, attempted);
    const errors = reads.filter(({ value, lower, upper }) => !(value >= lower && value <= upper));
    return {
        valid: errors.length === 0,
        reads,
        errors,
        attempted: attempted.plus - attempted.minus,
        acknowledged: acknowledged.plus - acknowledged.minus,
    };
}

/**
 * @param {{ plus: number, minus: number }} total
 * @param {Addition} addition
 */
function count(total, { plus, minus }) {
    total.plus += plus;
    total.minus += minus;
}

/**
 * @param {ReadEnd} read
 * @param {{ plus: number, minus: number }} acknowledgedAtBegin
 * @param {{ plus: number, minus: number }} attemptedAtEnd
 * @returns {Read}
 */
const judge = ({ id, value }, acknowledgedAtBegin, attemptedAtEnd) => ({
    id,
    value,
    lower: acknowledgedAtBegin.plus - attemptedAtEnd.minus,
    upper: attemptedAtEnd.plus - acknowledgedAtBegin.minus,
});

/**
 * @param {Map<string, { plus: number, minus: number }>} begun
 * @param {string} id
 */
function known(begun, id) {
    const found = begun.get(id);
    if (!found) throw new Error(`the history has an end but no beginning of the read ${id}`);
    return found;
}

/**
 * @param {{ plus: number, minus: number }} acknowledged
 * @param {{ plus: number, minus: number }} attempted
 */
function assertPossible(acknowledged, attempted) {
    if (acknowledged.plus > attempted.plus || acknowledged.minus > attempted.minus) {
        throw new Error('the history acknowledges what was never attempted');
    }
}

/**
 * Checks a history, and returns the result. Throws an error that lists up to five reads that break the rule.
 *
 * @param {Event[]} history
 */
export function assertCounter(history) {
    const result = checkCounter(history);
    if (result.valid) return result;
    const lines = result.errors
        .slice(0, 5)
        .map(({ id, value, lower, upper }) => `read ${id} gave ${value}, not ${lower} to ${upper}`);
    throw new Error(`${result.errors.length} of ${result.reads.length} reads are wrong: ${lines.join('; ')}`);
}
