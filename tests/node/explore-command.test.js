/** `npx tabacus explore ./scenario.js`: what it prints and writes, what it replays, and its exit codes. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
    copyFileSync,
    existsSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { explore, replay } from 'tabacus/emulator';

const program = fileURLToPath(new URL('../../bin/tabacus.js', import.meta.url));

const lostUpdate = fileURLToPath(new URL('scenarios/lost-update.js', import.meta.url));

let folder = '';

/** @param {string[]} args */
function command(...args) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
        encoding: 'utf8',
        cwd: folder,
    });
    return { status, stdout, stderr };
}

/** @param {string} name */
const read = (name) => readFileSync(join(folder, name), 'utf8');

before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tabacus explore #1 '));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    copyFileSync(lostUpdate, join(folder, 'lost update.js'));
});

after(() => rmSync(folder, { recursive: true, force: true }));

test('a broken scenario is printed, is written beside its file, and is replayed from its report', async () => {
    const { status, stdout, stderr } = command('explore', './lost update.js');
    assert.deepEqual([status, stderr], [1, '']);
    const report = JSON.parse(read('lost update.report.json'));
    const { scenario, options, ...found } = report;
    assert.deepEqual([scenario, options], ['./lost%20update.js', { tabs: 3, seeds: 200 }]);
    assert.deepEqual(found, await explore(pathToFileURL(join(folder, 'lost update.js')), options));
    assert.match(stdout, /^broken by seed 1: the count is 7 instead of 8 \(seeds: 1, steps: \d+\)\n/);
    assert.equal(read('lost update.trace.txt'), found.trace);
    assert.equal(read('lost update.svg'), found.svg);
    assert.ok(stdout.includes(`${String(found.story).trimEnd()}\n\n${found.trace}`));
    for (const name of ['lost update.report.json', 'lost update.trace.txt', 'lost update.svg'])
        assert.ok(stdout.includes(`${join(folder, name)}\n`), name);
    for (const args of /** @type {string[][]} */ ([[], ['./lost update.js']])) {
        const again = command('explore', ...args, '--replay', 'lost update.report.json');
        assert.equal(again.status, 1, again.stderr);
        assert.match(again.stdout, /^broken by seed 1: the count is 7 instead of 8 /);
        assert.ok(again.stdout.includes(String(found.trace)));
    }
    assert.equal(read('lost update.report.json'), `${JSON.stringify(report, undefined, 4)}\n`, 'it stays');
});

test('a failure beside cryptography and streams is replayed by another process and by replay()', async () => {
    copyFileSync(
        fileURLToPath(new URL('scenarios/packed-token.js', import.meta.url)),
        join(folder, 'packed.js'),
    );
    const url = pathToFileURL(join(folder, 'packed.js'));
    const { status, stdout, stderr } = command('explore', './packed.js');
    assert.equal(status, 1, stderr);
    assert.match(stdout, /^broken by seed \d+: the token of refresh 1 is not the latest one/);
    const { scenario: module, options, ...report } = JSON.parse(read('packed.report.json'));
    assert.equal(module, './packed.js');
    assert.match(
        report.trace,
        /begins crypto\.subtle\.encrypt\(\)[^]*a chunk of CompressionStream completes/,
    );
    const again = command('explore', '--replay', 'packed.report.json');
    assert.equal(again.status, 1, again.stderr);
    assert.ok(again.stdout.includes(report.trace));
    const here = await replay(url, report, options);
    assert.deepEqual([here.failure, here.trace, here.story], [report.failure, report.trace, report.story]);
    assert.deepEqual(await explore(url, options), report);
});

test('the trace and the diagram of an earlier run do not stay beside a scenario that holds', () => {
    const source = `export const scenario = () => { if (process.env.BREAKS) throw new Error('broken'); };`;
    writeFileSync(join(folder, 'mended.js'), source);
    process.env.BREAKS = 'yes';
    const broken = command('explore', './mended.js', '--seeds', '1');
    delete process.env.BREAKS;
    assert.equal(broken.status, 1, broken.stderr);
    const names = () => readdirSync(folder).filter((name) => name.startsWith('mended.'));
    assert.deepEqual(names(), ['mended.js', 'mended.report.json', 'mended.svg', 'mended.trace.txt']);
    assert.equal(command('explore', './mended.js', '--seeds', '1').status, 0);
    assert.deepEqual(names(), ['mended.js', 'mended.report.json']);
    assert.equal(JSON.parse(read('mended.report.json')).failure, '');
});

test('the options of the command line take precedence, and reports go where they are asked for', () => {
    const args = [
        '--storage',
        'interleaved',
        '--tabs',
        '2',
        '--seeds',
        '3,7-9,12',
        '--faults',
        'kill,freeze',
    ];
    const more = ['--fault-budget', '2', '--workers', '2', '--steps', '500', '--out', 'out/here', '--quiet'];
    const { status, stdout, stderr } = command(
        'explore',
        `file://${encodeURI(lostUpdate)}`,
        ...args,
        ...more,
    );
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^unbroken within the bound: 5 seeds \(seeds: 5, steps: \d+, [^\n]*\)\n$/);
    assert.deepEqual(readdirSync(join(folder, 'out/here')), ['lost-update.report.json']);
    const { options } = JSON.parse(read('out/here/lost-update.report.json'));
    assert.deepEqual(options, {
        ...{ tabs: 2, storage: 'interleaved', faults: ['kill', 'freeze'], faultBudget: 2 },
        ...{ workers: 2, steps: 500, seeds: [3, 7, 8, 9, 12] },
    });
    const unbroken = command('explore', '--replay', 'out/here/lost-update.report.json');
    assert.deepEqual([unbroken.status, unbroken.stdout], [2, '']);
    assert.match(unbroken.stderr, /there is no run to replay/);
});

test('one seed is run, and its diagram is drawn into another file', () => {
    const { status, stdout } = command('explore', './lost update.js', '--seed', '5', '--svg', 'drawn.svg');
    assert.equal(status, 1);
    assert.match(stdout, /^broken by seed 5: .*\(seeds: 1, /);
    assert.match(read('drawn.svg'), /^<svg /);
    assert.deepEqual(JSON.parse(read('lost update.report.json')).options.seeds, [5]);
});

test('a scenario may be the default export, and one that cannot be run is refused with the reason', () => {
    writeFileSync(
        join(folder, 'main.mjs'),
        'export default ({ window }) => void window.localStorage.length;',
    );
    writeFileSync(join(folder, 'wrong.js'), 'export const scenario = ;');
    writeFileSync(join(folder, 'empty.js'), '');
    writeFileSync(join(folder, 'options.js'), 'export const scenario = "1", options = 7;');
    assert.equal(command('explore', './main.mjs', '--seeds', '2').status, 0);
    assert.ok(existsSync(join(folder, 'main.report.json')));
    /** @type {[RegExp, string[]][]} */
    const refused = [
        [/there is no file .*nowhere\.js/, ['./nowhere.js']],
        [/cannot be imported: SyntaxError.*\n\n(?:.*\n)*.*SyntaxError: .*\n/, ['./wrong.js']],
        [/must be the URL of a module that exports `scenario`/, ['./empty.js']],
        [/the export `options` of .* must be an object/, ['./options.js']],
        [/storage must be one of/, ['./main.mjs', '--storage', 'none']],
        [/--tabs must be an integer/, ['./main.mjs', '--tabs', 'two']],
        [/--seeds must be a number, a range/, ['./main.mjs', '--seeds', '9-2']],
        [/--seed runs one seed/, ['./main.mjs', '--seed', '1', '--seeds', '2']],
        [/--timer-window must be a number/, ['./main.mjs', '--timer-window', 'long']],
        [/--tabs is given twice/, ['./main.mjs', '--tabs', '1', '--tabs', '2']],
        [/--tabs chooses what is explored/, ['--replay', 'main.report.json', '--tabs', '2']],
        [/--replay .*package\.json: this is no report/, ['--replay', 'package.json']],
        [/--replay nowhere\.json: ENOENT/, ['--replay', 'nowhere.json']],
        [/Unknown option '--model'/, ['./main.mjs', '--model', 'cached']],
        [/takes one scenario, not also "\.\/wrong\.js"/, ['./main.mjs', './wrong.js']],
        [/--replay takes a scenario's file, not "naive"/, ['naive', '--replay', 'main.report.json']],
    ];
    for (const [message, args] of refused) {
        const { status, stderr } = command('explore', ...args);
        assert.equal(status, 2, String(message));
        assert.match(stderr, message);
    }
});

test('an inconclusive scenario has an exit code of its own', () => {
    const source = `let failed = false;
        export const scenario = (tab, { seed }) => {
            if (seed !== 2 || failed) return;
            failed = true;
            throw new Error('once');
        };`;
    writeFileSync(join(folder, 'once.js'), source);
    const { status, stdout } = command('explore', './once.js', '--seed', '2', '--tabs', '1');
    assert.equal(status, 3);
    assert.match(stdout, /^inconclusive by seed 2: a run failed, and did not fail again.*once \(seeds: 1, /);
    assert.equal(JSON.parse(read('once.report.json')).verdict, 'inconclusive');
});

test('a scenario in TypeScript runs where Node strips types, and is refused with the reason elsewhere', () => {
    writeFileSync(join(folder, 'typed.ts'), 'export const scenario = (tab: { number: number }): void => {};');
    const { status, stderr } = command('explore', './typed.ts', '--seeds', '2');
    const strips = Boolean(/** @type {any} */ (process.features).typescript);
    assert.equal(status, strips ? 0 : 2, stderr);
    if (!strips) assert.match(stderr, /^tabacus: this host cannot import TypeScript .*typed\.ts.*22\.18/);
});

test('the version and the help are printed', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const option of ['--version', '-v']) assert.equal(command(option).stdout, `${version}\n`);
    const asking = [['--help'], ['explore', '--help'], ['explore', './nowhere.js', '-h']];
    for (const args of asking) {
        const { status, stdout } = command(...args);
        assert.equal(status, 0);
        assert.match(stdout, /npx tabacus explore \.\/scenario\.js[^]*--workers <n>[^]*3 inconclusive/);
    }
});
