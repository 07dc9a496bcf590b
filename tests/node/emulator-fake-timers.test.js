/** The emulator under fake timers, and fake timers in a tab of the emulator. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOrigin } from 'tabacus/emulator';

const program = fileURLToPath(new URL('../programs/fake-timers.node.js', import.meta.url));
const { withGlobal } = createRequire(import.meta.url)('@sinonjs/fake-timers');

/** @param {string} kind @param {string} time */
async function explored(kind, time) {
    const { stdout } = await promisify(execFile)(process.execPath, [program, kind, time], {
        timeout: 60_000,
    });
    return JSON.parse(stdout);
}

/** What an exploration finds without fakes, except for its hash. */
const found = {
    verdict: 'unbroken within the bound',
    failure: '',
    endless: '',
    goesOn: true,
    unchanged: true,
    untouched: true,
};

/** The kinds of fakes, when they are installed, and what an invariant that waits for ever is reported as. */
const CASES = /** @type {const} */ ([
    ['replaceAll', 'before', 'the invariant waits for ever'],
    ['replaceAll', 'during', ''],
    ['installSinon', 'before', 'the invariant waits for ever'],
    ['installSinon', 'after', ''],
]);

describe('fake timers of the host', { concurrency: true }, () => {
    const real = explored('none', 'after');

    it('the scenario holds without fakes', async () => {
        const { hash, ...rest } = await real;
        assert.match(hash, /^[0-9a-f]{16}$/);
        assert.deepEqual(rest, found);
    });

    for (const [kind, time, endless] of CASES)
        it(`an exploration finds the same with ${kind}() ${time === 'during' ? 'in a run' : `${time} the import`}`, async () => {
            const { hash } = await real;
            assert.deepEqual(await explored(kind, time), { ...found, hash, endless });
        });
});

describe('fake timers of a tab', () => {
    it('the clock of Sinon moves the timers, the microtasks and the dates of its tab alone', async () => {
        const origin = await createOrigin();
        const [tab, other] = [origin.openTab(), origin.openTab()];
        const clock = withGlobal(tab.window).install({ now: 1_000 });
        const { Date, performance, queueMicrotask, requestAnimationFrame, setInterval, setTimeout } =
            tab.window;
        /** @type {string[]} */
        const calls = [];
        setTimeout(() => calls.push('timeout'), 1_000_000);
        setInterval(() => calls.push('interval'), 400_000);
        requestAnimationFrame(() => calls.push('frame'));
        queueMicrotask(() => calls.push('microtask'));
        await new Promise((resolve) => other.window.setTimeout(resolve, 5_000_000));
        assert.deepEqual([calls, Date.now(), performance.now()], [[], 1_000, 0]);
        clock.tick(1_000_000);
        assert.deepEqual(calls, ['microtask', 'frame', 'interval', 'interval', 'timeout']);
        assert.deepEqual([new Date().getTime(), performance.now()], [1_001_000, 1_000_000]);
        assert.equal(await tab.run('Date.now()'), 1_001_000);
        clock.uninstall();
        assert.equal(tab.window.Date.now(), other.window.Date.now());
        await new Promise((resolve) => tab.window.setTimeout(resolve, 10));
        origin.close();
    });
});
