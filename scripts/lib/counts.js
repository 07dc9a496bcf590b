/** Reads from the reports of test runners how many tests passed, failed and were skipped. */

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** @type {Counts} */
export const NOTHING = Object.freeze({ passed: 0, failed: 0, skipped: 0 });

/**
 * @param {Counts[]} all
 * @returns {Counts}
 */
export const sum = (all) =>
    all.reduce(
        (a, b) => ({
            passed: a.passed + b.passed,
            failed: a.failed + b.failed,
            skipped: a.skipped + b.skipped,
        }),
        NOTHING,
    );

/**
 * The plain closing line, as continuous integration reads it.
 * @param {Counts} counts
 */
export const closingLine = ({ passed, failed, skipped }) =>
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/**
 * The counts in a report of Node's runner, which ends with lines such as `ℹ pass 12`.
 * @param {string} report
 * @returns {Counts}
 */
export function nodeCounts(report) {
    /** @param {string} name */
    const count = (name) => Number(report.match(new RegExp(`^ℹ ${name} (\\d+)$`, 'm'))?.[1] ?? 0);
    return {
        passed: count('pass'),
        failed: count('fail') + count('cancelled'),
        skipped: count('skipped') + count('todo'),
    };
}

/**
 * The counts in a JUnit report of Catch2: of the test cases, or of their sections. The numbers in the report's
 * head count assertions, so they are not used.
 * @param {string} xml
 * @returns {Counts}
 */
export function catchCounts(xml) {
    const cases = xml.match(/<testcase\b(?:[^>]*\/>|[^]*?<\/testcase>)/g) ?? [];
    const failed = cases.filter((text) => /<(?:failure|error)\b/.test(text)).length;
    const skipped = cases.filter((text) => /<skipped\b/.test(text)).length;
    return { passed: cases.length - failed - skipped, failed, skipped };
}

/**
 * The counts in the last plain closing line that a script of ours printed.
 * @param {string} report
 * @returns {Counts}
 */
export function plainCounts(report) {
    const lines = [...report.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)];
    const [, passed = 0, failed = 0, skipped = 0] = lines.at(-1) ?? [];
    return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}
