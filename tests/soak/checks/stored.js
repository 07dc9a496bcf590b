/** What is written under a fence is written once, and never by a holder that is not the newest. */

/** @typedef {import('../event-log.js').Event} Event */

/** @param {readonly Event[]} events @returns {string[]} */
export function checkStored(events) {
    const stored = events.filter(({ type }) => type === 'stored');
    return stored.flatMap(({ name, value }) => {
        if (name === 'calls') return checkCalls(events, value ?? 0);
        const commits = events.filter((event) => event.type === 'commit-end' && event.name === name);
        const attempts = events.filter((event) => event.type === 'commit-begin' && event.name === name);
        return [
            ...checkNumbers(name, commits, attempts.length, value?.number ?? 0),
            ...checkFence(name, commits, value?.token ?? 0),
        ];
    });
}

/** @param {string} name @param {Event[]} commits @param {number} attempts @param {number} final @returns {string[]} */
function checkNumbers(name, commits, attempts, final) {
    const numbers = commits.map(({ number }) => number);
    const faults = [];
    if (new Set(numbers).size < numbers.length) faults.push(`${name}: two commits wrote the same number`);
    const newest = numbers.reduce((most, n) => Math.max(most, n), 0);
    if (final < newest || final < numbers.length)
        faults.push(`${name}: ${numbers.length} commits up to ${newest}, but ${final} is stored`);
    if (final > attempts) faults.push(`${name}: ${final} is stored after ${attempts} attempts`);
    return faults;
}

/** The tokens rise with the numbers. @param {string} name @param {Event[]} commits @param {number} final */
function checkFence(name, commits, final) {
    const inOrder = commits.toSorted((a, b) => a.number - b.number);
    let last = 0;
    const faults = [];
    for (const { op, number, token, before } of inOrder) {
        if (token < before || token < last)
            faults.push(
                `${name}: ${op} wrote ${number} under the token ${token}, after ${Math.max(before, last)}`,
            );
        last = Math.max(last, token);
    }
    if (final < last) faults.push(`${name}: the token ${final} is stored after ${last}`);
    return faults;
}

/** Each call to a leader commits its answer once. @param {readonly Event[]} events @param {number} final */
function checkCalls(events, final) {
    const attempted = events.filter(({ type, kind }) => type === 'begin' && kind === 'callLeader').length;
    const answered = events.filter(
        ({ type, kind, ok }) => type === 'end' && kind === 'callLeader' && ok,
    ).length;
    if (answered <= final && final <= attempted) return [];
    return [`leaders committed ${final} answers, of ${attempted} calls with ${answered} answers`];
}
