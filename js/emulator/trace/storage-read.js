/** The line of a read of a storage in a trace, and in a story. */

import { shorten } from '../common/describe.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * Describes the value that the tab would read if the latest write of another process had reached it. Returns an empty
 * text if it reads that value.
 *
 * @param {Context} context
 * @param {string} key
 */
function unseen({ id, rules, tab }, key) {
    const { writer, clears, value } = rules.calls.unseenWrite(id, key);
    if (!writer) return '';
    const [done, what] = clears
        ? ['cleared the storage', 'that']
        : value === undefined
          ? ['removed it', 'the removal']
          : [`written ${shorten(`${value}`)}`, 'the write'];
    return `, although ${writer} has ${done}: ${what} has not reached tab ${tab.number}'s process`;
}

/**
 * Adds the line of a read to the trace, if tracing is on. A story leaves out a read that sees the same as the last one
 * of the same line.
 *
 * @param {Context} context
 * @param {number} area
 * @param {string} key
 * @param {string | null} value
 */
export function traceRead(context, area, key, value) {
    const { rules } = context;
    if (!rules.tracing) return;
    const seen = shorten(value ?? 'nothing');
    const story = `reads ${shorten(key)} and sees ${seen}${area === 0 ? unseen(context, key) : ''}`;
    const line = rules.sourceLine();
    const read = JSON.stringify([context.id, area, key, line]);
    const repeats = rules.reads.get(read) === story;
    rules.reads.set(read, story);
    rules.trace(context.id, 'item', () => `reads ${shorten(key)}: ${seen}`, {
        story: repeats ? '' : story,
        line,
    });
}
