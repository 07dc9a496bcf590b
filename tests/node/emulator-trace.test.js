/** What the traces and the stories of broken runs say: lines of the source, timers, locks, and what a tab did not see. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { explore, replay } from 'tabacus/emulator';
import { platform, texts, tracedRun } from './basket-scenario.js';

/** @typedef {import('tabacus/emulator').Scenario} Scenario */

const file = fileURLToPath(new URL('basket-scenario.js', import.meta.url));

/** The lines of a trace without their numbers and tabs. @param {string | undefined} trace */
const linesOf = (trace = '') =>
    trace
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/^ *(\d+ +tab \d +)?/, ''));

describe('a trace', () => {
    it('a trace names the line of the source for each call of the platform', async () => {
        const { trace } = await tracedRun(platform);
        assert.deepEqual(
            linesOf(trace).filter((line) => line.includes('.js:')),
            [
                'writes a = 1 (basket-scenario.js:11)',
                'reads a: 1 (basket-scenario.js:12)',
                'writes b = 2 (basket-scenario.js:13)',
                'reads b: 2 (basket-scenario.js:14)',
                'removes b (basket-scenario.js:14)',
                'clears everything (basket-scenario.js:15)',
                'posts m (basket-scenario.js:16)',
                'sets a repeating timer of 70 ms (basket-scenario.js:17)',
                'sets a timer of 80 ms (basket-scenario.js:18)',
                'asks for the lock l, shared (basket-scenario.js:20)',
                'asks for the lock l, exclusive (basket-scenario.js:22)',
                'asks for the lock l, exclusive, with ifAvailable (basket-scenario.js:23)',
                'aborts its request for the lock l (basket-scenario.js:24)',
                'asks for the lock l, exclusive, with steal (basket-scenario.js:26)',
                'sets a timer of 90 ms (basket-scenario.js:29)',
                'throws TypeError: at the end (basket-scenario.js:30)',
            ],
        );
    });

    it("a trace names a text's own lines, by the name of the text", async () => {
        const { trace } = await tracedRun(texts);
        assert.deepEqual(
            linesOf(trace).filter((line) => /^(writes|throws)/.test(line)),
            [
                'writes script = 1 (script-1:3)',
                'writes named = 1 (basket.js:1)',
                'writes module = 1 (script-2:3)',
                'writes function = 1 (add:2)',
                'writes arrow = 1 (function-1:2)',
                'writes inner = 1 (script-4:2)',
                'throws RangeError: at the end (basket-scenario.js:46)',
            ],
        );
    });

    it('a trace shows the delays of timers, and how a lock is asked for, granted, refused, stolen and released', async () => {
        const { trace, svg } = await tracedRun(platform);
        const lines = linesOf(trace);
        for (const line of [
            'its timer of 70 ms is due',
            'its timer of 90 ms is due',
            'is granted the lock l',
            'is refused the lock l, which tab 1 holds',
            'loses the lock l',
            'has released the lock l',
        ]) {
            assert.ok(lines.includes(line), line);
            assert.ok(svg?.includes(line), line);
        }
    });

    it('a timer keeps its delay in the trace when its tab is throttled', async () => {
        const report = await explore(
            async (tab) => {
                const fired = new Promise((resolve) => tab.window.setTimeout(resolve, 500));
                await new Promise((resolve) => tab.window.setTimeout(resolve, 100));
                tab.throttle();
                await fired;
            },
            { tabs: 1, seeds: 1, invariant: () => false },
        );
        const timers = linesOf(report.trace).filter((line) => /timer/.test(line));
        assert.deepEqual(
            timers.map((line) => line.replace(/ \(.*/, '')),
            [
                'sets a timer of 500 ms',
                'sets a timer of 100 ms',
                'its timer of 100 ms is due',
                'its timer of 500 ms is due',
            ],
        );
    });

    it('two processes print equal traces, in any folder and with source maps', async () => {
        const run = (/** @type {string[]} */ options, /** @type {string} */ cwd) =>
            execFileSync(process.execPath, [...options, file], { cwd, encoding: 'utf8' });
        const first = run([], '/');
        assert.match(first, /writes module = 1 \(script-2:3\)/);
        assert.equal(run(['--enable-source-maps'], fileURLToPath(new URL('.', import.meta.url))), first);
    });

    it('a worker has a name of its own in the trace', async () => {
        const report = await explore(
            (tab) => {
                tab.openWorker('setTimeout(() => {}, 5)');
                return new Promise((resolve) => tab.window.setTimeout(resolve, 10));
            },
            { tabs: 2, seeds: 1, invariant: () => false },
        );
        assert.match(report.trace ?? '', /worker 1 of tab 1 +sets a timer of 5 ms/);
        assert.match(report.story ?? '', /^worker 1 of tab 2's timer of 5 ms is due$/m);
    });

    it('a stack that is no text, or that cannot be read, leaves out the line', async () => {
        const { prepareStackTrace } = Error;
        Error.prepareStackTrace = () => 5;
        try {
            const { trace } = await tracedRun(({ window }) => window.localStorage.nothing.fails);
            assert.match(trace ?? '', /reads nothing: nothing\n/);
        } finally {
            Error.prepareStackTrace = prepareStackTrace;
        }
        const hostile = Object.defineProperty(new Error('hostile'), 'stack', {
            get() {
                throw new Error('of the getter');
            },
        });
        assert.match((await tracedRun(() => Promise.reject(hostile))).trace ?? '', /throws Error: hostile\n/);
    });
});

describe('a story', () => {
    /** A Web Lock around localStorage. @type {Scenario} */
    const locked = async ({ window: { navigator, localStorage } }) => {
        await navigator.locks.request('n', () =>
            localStorage.setItem('n', String(Number(localStorage.getItem('n')) + 1)),
        );
    };
    /** @type {(context: import('tabacus/emulator').InvariantContext) => unknown} */
    const invariant = ({ origin }) =>
        origin.openTab().window.localStorage.getItem('n') === '2' || 'an update is lost';

    /** The lines of a story without the lines of the source. @param {string | undefined} story */
    const linesOf = (story = '') =>
        story
            .trimEnd()
            .replaceAll(/ \(emulator-trace\S+:\d+\)$/gm, '')
            .split('\n');

    it('the story of a lost update says what the second tab saw, and what it should have seen', async () => {
        const report = await explore(locked, { invariant });
        assert.deepEqual(linesOf(report.story), [
            'tab 1 asks for the lock n, exclusive',
            'tab 1 is granted the lock n',
            'tab 2 asks for the lock n, exclusive',
            'tab 1 reads n and sees nothing',
            'tab 1 writes n = 1',
            'tab 1 has released the lock n',
            'tab 2 is granted the lock n',
            "tab 2 reads n and sees nothing, although tab 1 has written 1: the write has not reached tab 2's process",
            'tab 2 writes n = 1',
            'tab 2 has released the lock n',
            'tab 2 is notified of n = 1',
            'the run fails: an update is lost',
        ]);
        assert.equal((await replay(locked, report, { invariant })).story, report.story);
        assert.equal((await explore(locked, { seeds: 1 })).story, undefined);
    });

    it('the story of a deadlock says which lock each tab awaits, and which tab holds it', async () => {
        const report = await explore(async ({ window: { navigator } }, { index }) => {
            const [first, second] = index === 0 ? ['a', 'b'] : ['b', 'a'];
            await navigator.locks.request(first, () => navigator.locks.request(second, () => {}));
        });
        assert.deepEqual(linesOf(report.story).slice(-3), [
            'tab 1 waits for the lock b, which tab 2 holds',
            'tab 2 waits for the lock a, which tab 1 holds',
            'the run fails: tab 1 and tab 2 wait for ever',
        ]);
    });

    it('the story of a killed tab names the write that dies with it', async () => {
        /** @type {Scenario} */
        const scenario = async (tab, { index, tabs }) => {
            tab.window.localStorage.setItem(`k${index}`, 'v');
            if (index === 1) tabs[0]?.kill();
        };
        const report = await explore(scenario, {
            seeds: 100,
            invariant: ({ origin }) => origin.openTab().window.localStorage.getItem('k0') === 'v',
        });
        assert.match(
            report.story ?? '',
            /^tab 1 dies.*\ntab 1 loses its write k0 = v, which has not left its process$/m,
        );
    });

    it('a story says that a removal or a clear() has not arrived, and says nothing of writes that have', async () => {
        /** @type {(change: (storage: Storage) => void) => Scenario} */
        const reads =
            (change) =>
            async ({ window: { localStorage, navigator } }, { index }) => {
                if (index === 0) localStorage.setItem('k', 'v');
                await navigator.locks.request('l', () => {
                    if (index === 0) change(localStorage);
                    else assert.notEqual(localStorage.getItem('k'), 'v');
                });
            };
        for (const [change, text] of /** @type {const} */ ([
            [(/** @type {Storage} */ storage) => storage.removeItem('k'), 'removed it: the removal'],
            [(/** @type {Storage} */ storage) => storage.clear(), 'cleared the storage: that'],
        ])) {
            const { story = '' } = await explore(reads(change), { seeds: 300 });
            const end = `has not reached tab 2's process`;
            assert.ok(story.includes(`tab 2 reads k and sees v, although tab 1 has ${text} ${end}`), story);
        }
        const seen = await explore(
            async ({ window: { localStorage, setTimeout } }) => {
                localStorage.setItem('k', 'v');
                await new Promise((resolve) => setTimeout(resolve, 5000));
                localStorage.getItem('k');
            },
            { seeds: 5, invariant: () => false },
        );
        assert.match(seen.story ?? '', /reads k and sees v/);
        assert.doesNotMatch(seen.story ?? '', /although/);
    });

    it('a story leaves out repeated reads, and the middle of a long run', async () => {
        const report = await explore(
            async ({ window: { localStorage, setTimeout } }) => {
                for (let at = 0; at < 150; ++at) {
                    localStorage.getItem('same');
                    localStorage.setItem('k', String(at));
                    await new Promise((resolve) => setTimeout(resolve, 1));
                }
            },
            { tabs: 1, seeds: 1, invariant: () => false },
        );
        const lines = linesOf(report.story);
        assert.equal(lines.filter((line) => line.includes('reads same')).length, 1);
        assert.equal(lines.length, 201);
        assert.equal(lines[100], '(102 lines are left out)');
        assert.equal(lines.at(-1), 'the run fails: the invariant does not hold');
    });
});
