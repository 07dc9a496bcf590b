/** The laboratory in WebAssembly, and its command line. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { explore, faults, matrix, models, replay, strategies, TabacusError } from 'tabacus/lab';
import { checkRequest } from '../../js/lab/request.js';

/** The hash that the native explorer has for the same runs: tests/native/explore/explore_explorer.cpp. */
const SAME_EVERYWHERE = [
    ['replicated', 'c37bbcce3f9d8036'],
    ['log', '12452d53d54f0039'],
    ['transactional', 'e76979380a4b8430'],
];

const program = fileURLToPath(new URL('../../bin/tabacus.js', import.meta.url));

/**
 * The hash of the runs of a request's first seeds, in hexadecimal. It is equal wherever they make the same runs.
 *
 * @param {import('../../js/lab/lab.js').Request} request
 * @param {number} count
 */
async function fingerprint(request, count) {
    const { default: start } = await import(new URL('../../build/wasm-single/lab.js', import.meta.url).href);
    const lab = await start({});
    return lab.hashOfSeeds(request, count);
}

/** @param {string[]} args */
const command = (...args) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });

test('the same seeds make the same runs as natively', async () => {
    for (const [strategy, hash] of SAME_EVERYWHERE) {
        const request = {
            strategy: /** @type {any} */ (strategy),
            tabs: 3,
            faults: faults.slice(0, 10), // those that tests/native/explore/explore_explorer.cpp has
            faultBudget: 2,
        };
        assert.equal(await fingerprint(checkRequest(request), 200), hash, strategy);
    }
});

test('a strategy is proved, or is broken with a seed that replays the failure', async () => {
    const proved = await explore({ strategy: 'transactional' });
    assert.deepEqual([proved.verdict, proved.bound, proved.seed], ['proved', 'every schedule', '']);
    const broken = await explore({ strategy: 'locked', faults: ['kill'] });
    assert.equal(broken.verdict, 'broken');
    assert.match(broken.failure, /^an update is lost/);
    assert.equal(broken.complaint, broken.failure, 'the deprecated name');
    assert.match(broken.svg ?? '', /^<svg /);
    const again = await replay(broken.seed);
    assert.equal(again.trace, broken.trace);
});

test('an exploration runs in slices, reports its progress, and can be ended', async () => {
    const abort = new AbortController();
    let reports = 0;
    const ending = explore(
        { strategy: 'replicated', seeds: 1e6 },
        {
            signal: abort.signal,
            progress({ verdict, schedules }) {
                assert.equal(verdict, 'open');
                assert.ok(schedules > 0);
                if (++reports === 2) abort.abort();
            },
        },
    );
    await assert.rejects(ending, { name: 'AbortError' });
    assert.equal(reports, 2);
});

test('a request that cannot be explored is refused, and the error names its argument', async () => {
    /** @type {[string, any][]} */
    const bad = [
        ['strategy', { strategy: 'none' }],
        ['model', { strategy: 'naive', model: 'other' }],
        ['tabs', { strategy: 'naive', tabs: 0 }],
        ['adds', { strategy: 'naive', adds: 1.5 }],
        ['faults', { strategy: 'naive', faults: ['fire'] }],
        ['faults', { strategy: 'naive', faults: 'kill' }],
        ['request', []],
        ['request.tab', { strategy: 'naive', tab: 2 }],
    ];
    for (const [argument, request] of bad) {
        const refused = (/** @type {any} */ error) =>
            error instanceof TabacusError && error.argument === argument;
        await assert.rejects(explore(request), refused, argument);
    }
    await assert.rejects(replay('tabacus-1-AAAA'), { code: 'invalid-argument' });
});

test('the matrix is explored one cell at a time', async () => {
    const seen = [];
    for await (const cell of matrix({ work: 200, seeds: 2 })) {
        seen.push(`${cell.strategy} ${cell.model}`);
        assert.equal(cell.contradicts, false);
        if (seen.length === 17) break;
    }
    assert.deepEqual([seen[0], seen[16]], ['replicated mutexed', 'replicated interleaved']);
    assert.deepEqual([strategies.length, models.length, faults.length], [10, 3, 15]);
});

test('a strategy that breaks without a fault breaks with every fault in the matrix, however small the bound', async () => {
    let faultless;
    let broken = 0;
    for await (const cell of matrix({ work: 200, seeds: 2 })) {
        if (cell.fault === 'none') faultless = cell;
        if (faultless?.verdict !== 'broken' || !cell.explored) continue;
        ++broken;
        assert.equal(cell.verdict, 'broken', `${cell.strategy} ${cell.model} ${cell.fault}`);
    }
    assert.ok(broken > 0);
});

test('two matrices that one module explores by turns are equal to those that it explores one after the other', async () => {
    const { default: start } = await import(new URL('../../build/wasm-single/lab.js', import.meta.url).href);
    const lab = await start({});
    const report = (/** @type {any} */ cell) =>
        JSON.parse(cell.report(), (key, value) => (key === 'seconds' ? undefined : value));
    /** @param {any} all @param {number} index */
    const explored = (all, index) => {
        const cell = all.cell(index);
        while (cell.explore(1_000));
        const found = report(cell);
        cell.delete();
        return found;
    };
    // A loss without a fault is reported in the cells with a fault, too, but only in those of the same matrix.
    const [small, large] = [new lab.Matrix(1, 0), new lab.Matrix(500, 2)];
    const row = Array.from({ length: small.cellCount() }, (_, index) => index).filter((index) => {
        const { strategy, model } = report(small.cell(index));
        return strategy === 'naive' && model === 'interleaved';
    });
    const alone = [small, large].map((all) => row.map((index) => explored(all, index)));
    const losses = alone.map(([faultless]) => faultless.verdict === 'broken');
    assert.deepEqual(losses, [false, true], 'the larger bound finds what the smaller one does not');
    const together = row.map((index) => [explored(small, index), explored(large, index)]);
    assert.deepEqual(
        together,
        row.map((_, at) => [alone[0]?.[at], alone[1]?.[at]]),
    );
});

test('the command line proves, breaks, replays and draws', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tabacus-lab-'));
    try {
        const proved = command('explore', 'transactional', '--tabs', '2', '--adds', '1');
        assert.equal(proved.status, 0, proved.stderr);
        assert.match(
            proved.stdout,
            /^proved: every schedule \(\d+ schedules, [\d,]+ steps; transactional, cached, tabs: 2, adds: 1, no faults\)/,
        );
        const drawn = join(folder, 'run.svg');
        const broken = command('explore', 'naive', '--model', 'cached', '--faults', 'kill', '--svg', drawn);
        assert.equal(broken.status, 1, broken.stderr);
        const [, seed = ''] = /^broken (tabacus-1-\S+): an update is lost/.exec(broken.stdout) ?? [];
        assert.match(readFileSync(drawn, 'utf8'), /^<svg /);
        assert.equal(command('explore', '--seed', seed).stdout, broken.stdout);
        const beside = command(
            'explore',
            'naive',
            '--model',
            'cached',
            '--faults',
            'kill',
            '--tabs',
            '2',
            '--seed',
            seed,
        );
        assert.equal(beside.stdout, broken.stdout);
        const both = command(
            'explore',
            'transactional',
            '--adds',
            '1',
            '--faults',
            'none',
            '--faults',
            'kill, freeze',
        );
        assert.match(both.stdout, /at most 1 of kill, freeze\)/);
        const other = command('explore', 'naive', '--tabs', '3', '--seed', seed);
        assert.deepEqual([other.status, other.stdout], [2, '']);
        assert.match(other.stderr, /^tabacus: the seed's run has tabs: 2, not 3\n/);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test('the command line refuses, beside --seed, an option that contradicts the seed or bounds a search', () => {
    const [, seed = ''] = /^broken (tabacus-1-\S+):/.exec(command('explore', 'naive').stdout) ?? [];
    const [, faulty = ''] =
        /^broken (tabacus-1-\S+):/.exec(command('explore', 'locked', '--faults', 'kill').stdout) ?? [];
    for (const [args, message] of /** @type {const} */ ([
        [[seed, '--faults', 'kill, freeze'], "the seed's run has faults: none, not freeze, kill"],
        [[faulty, '--faults', 'none'], "the seed's run has faults: kill, not none"],
        [[faulty, '--fault-budget', '7'], "the seed's run has fault-budget: 1, not 7"],
        [[seed, 'log'], "the seed's run has strategy: naive, not log"],
        [[seed, '--preemptions', '9'], '--preemptions bounds a search, but --seed replays one run'],
        [[seed, '--switches', '9'], '--preemptions bounds a search, but --seed replays one run'],
        [[seed, '--seeds', '9'], '--seeds bounds a search, but --seed replays one run'],
        [[seed, '--work', '9'], '--work bounds a search, but --seed replays one run'],
    ])) {
        const { status, stdout, stderr } = command('explore', '--seed', ...args);
        assert.deepEqual([status, stdout, stderr.split('\n')[0]], [2, '', `tabacus: ${message}`]);
    }
    assert.equal(command('explore', '--seed', seed, '--faults', 'none', '--fault-budget', '1').status, 1);
});

test('the matrix of the command line prints a bound for each cell that holds', async () => {
    const writer = spawn(process.execPath, [program, 'matrix'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = /** @type {string[]} */ (await once(createInterface(writer.stdout), 'line'));
    writer.stdout.destroy();
    await once(writer, 'close');
    const exhausted =
        /every schedule with at most \d preemptions?(, or at most \d preemptions? between tabs alone)?/
            .source;
    const bound = `${exhausted}; 100 seeded schedules`;
    assert.match(
        line ?? '',
        new RegExp(`^replicated +mutexed +none +holds \\(2 × 3: ${bound} \\| 3 × 2: ${bound}\\)$`),
    );
});

test('the command line ends with exit code 2 for an unknown word or option', () => {
    for (const args of [
        [],
        ['fly'],
        ['explore'],
        ['explore', 'none'],
        ['explore', 'naive', '--tabs', 'two'],
        ['explore', 'naive', '--tabs', '65'],
        ['explore', 'naive', '--fault', 'kill'],
        ['explore', 'naive', '--faults', 'fire'],
        ['explore', 'naive', '--tabs', '2', '--tabs', '1'],
        ['explore', 'naive', 'log'],
        ['explore', '--seed', 'nonsense'],
        ['explore', 'naive', '--seed', 'nonsense'],
        ['matrix', 'naive'],
    ]) {
        const { status, stderr, stdout } = command(...args);
        assert.deepEqual([status, stdout], [2, ''], args.join(' '));
        assert.match(stderr, /^tabacus: /);
    }
    const help = command('--help');
    assert.equal(help.status, 0);
    assert.match(help.stdout, /npx tabacus explore <strategy>/);
});

test('the command line prints help wherever it is asked for, reports a file that cannot be written, and survives a closed pipe', async () => {
    for (const args of [['-h'], ['explore', '--help'], ['matrix', '-h']]) {
        const { status, stdout } = command(...args);
        assert.deepEqual([status, stdout.startsWith('tabacus: ')], [0, true], args.join(' '));
    }
    const unwritten = command('explore', 'naive', '--svg', '/nowhere/run.svg');
    assert.equal(unwritten.status, 2);
    assert.match(unwritten.stderr, /^tabacus: --svg: .*\/nowhere\/run.svg/);
    assert.match(command('explore', 'transactional', '--svg', '/nowhere/run.svg').stderr, /nothing to draw/);
    const writer = spawn(process.execPath, [program, 'matrix'], { stdio: ['ignore', 'pipe', 'pipe'] });
    await once(writer.stdout, 'data');
    writer.stdout.destroy();
    const [[code], errors] = await Promise.all([once(writer, 'close'), text(writer.stderr)]);
    assert.deepEqual([code, errors], [0, '']);
});
