/** Compares the outcomes that a litmus program has shown with those that are allowed and forbidden. */

/** @typedef {import('./programs.js').Program} Program */

/**
 * What one tab reports of one round.
 *
 * @typedef {object} Witness
 * @property {Record<string, string>} registers
 * @property {string[]} finally  a value for each of the program's keys
 * @property {string[]} events  the values of its storage events, for each of the program's keys
 */

/**
 * Returns one round's outcome as a text, in the form that tests/native/litmus/litmus_model.cpp writes.
 *
 * @param {Program} program
 * @param {Witness[]} tabs
 */
export function outcomeOf(program, tabs) {
    const registers = tabs
        .flatMap((tab) => Object.entries(tab.registers).map((pair) => pair.join('=')))
        .filter((part) => !part.startsWith('_'));
    /** @param {'finally' | 'events'} what @param {string} sign */
    const each = (what, sign) =>
        program[what].map((key, i) => key + sign + tabs.map((tab) => tab[what][i]).join('|'));
    return [...registers.sort(), ...each('finally', '='), ...each('events', ':')].join(' ');
}

/**
 * Counts how often each outcome was seen.
 *
 * @param {Program} program
 * @param {Witness[][]} witnesses  tab → round
 * @returns {Map<string, number>} outcome → how often
 */
export function countOutcomes(program, witnesses) {
    /** @type {Map<string, number>} */
    const seen = new Map();
    const [first = []] = witnesses;
    for (const round of first.keys()) {
        const tabs = witnesses.map((rounds) => /** @type {Witness} */ (rounds[round]));
        const outcome = outcomeOf(program, tabs);
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
    return seen;
}

/** Whether an outcome has all these parts. @param {string} outcome @param {string[]} parts */
export const hasAll = (outcome, parts) => {
    const all = new Set(outcome.split(' '));
    return parts.every((part) => all.has(part));
};

/**
 * Compares the outcomes that were seen with the allowed and the forbidden ones.
 *
 * @param {Program} program
 * @param {Map<string, number>} seen
 * @param {string[]} allowed
 */
export function judge(program, seen, allowed) {
    const outcomes = [...seen.keys()];
    return {
        name: program.name,
        asks: program.asks,
        rounds: [...seen.values()].reduce((sum, times) => sum + times, 0),
        allowed: allowed.map((outcome) => ({ outcome, times: seen.get(outcome) ?? 0 })),
        strangers: outcomes
            .filter((outcome) => !allowed.includes(outcome))
            .map((outcome) => ({ outcome, times: seen.get(outcome) ?? 0 })),
        forbidden: program.forbidden.map((parts) => ({
            parts: parts.join(' '),
            seen: outcomes.some((outcome) => hasAll(outcome, parts)),
        })),
    };
}

/** @typedef {ReturnType<typeof judge>} Judged */

/** Whether all outcomes that were seen are allowed, and none is forbidden. @param {Judged} judged */
export const isSound = ({ strangers, forbidden }) =>
    strangers.length === 0 && forbidden.every(({ seen }) => !seen);

/** @param {Judged} judged @returns {string} the result as lines for a terminal */
export function report({ name, asks, rounds, allowed, strangers, forbidden }) {
    /** @param {number} times */
    const count = (times) => (times === 0 ? 'never seen' : `${times} ×`).padStart(12);
    return [
        `${name} (${rounds} rounds): ${asks}`,
        ...allowed.map(({ outcome, times }) => `    allowed    ${count(times)}  ${outcome}`),
        ...strangers.map(({ outcome, times }) => `  ✗ NOT ALLOWED ${count(times).slice(3)}  ${outcome}`),
        ...forbidden.map(
            ({ parts, seen }) =>
                `  ${seen ? '✗' : ' '} forbidden  ${seen ? '        SEEN' : '  never seen'}  ${parts}`,
        ),
    ].join('\n');
}

/** @param {Judged[]} all @returns {string} the results as a table in Markdown */
export function markdown(all) {
    const rows = all.map(({ name, asks, allowed, strangers, forbidden, rounds }) => {
        const seen = [...allowed, ...strangers]
            .filter(({ times }) => times > 0)
            .map(({ outcome, times }) => `\`${outcome.replaceAll('|', '/')}\` ${times}`);
        const unseen = allowed
            .filter(({ times }) => times === 0)
            .map(({ outcome }) => `\`${outcome.replaceAll('|', '/')}\``);
        const never = forbidden.map(({ parts }) => `\`${parts.replaceAll('|', '/')}\``);
        const cells = [seen, unseen, never].map((list) => list.join('<br>') || '–');
        return `| **${name}** (${rounds})<br>${asks} | ${cells.join(' | ')} |`;
    });
    const head =
        '| program (rounds) | allowed and seen, how often | allowed, never seen | forbidden |\n|---|---|---|---|';
    return [head, ...rows].join('\n');
}
