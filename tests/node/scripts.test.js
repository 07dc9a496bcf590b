/**
 * The parts of the build: the mirror that it finds, its counts of tests, the order of its tasks, its planted
 * faults.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkAttach } from '../../scripts/lib/attach-check.js';
import { catchCounts, closingLine, nodeCounts, plainCounts } from '../../scripts/lib/counts.js';
import { debianMirror } from '../../scripts/lib/mirror.js';
import { forOne } from '../../scripts/lib/glue.js';
import { NEEDS } from '../../scripts/lib/browsers.js';
import { repository } from '../../scripts/lib/paths.js';
import { PLANTED } from '../../scripts/lib/plant-faults.js';
import { patchSource } from '../../scripts/lib/source-patch.js';
import { LINKS, PACKAGES } from '../../scripts/lib/recipe.js';
import { schedule, withNeeds } from '../../scripts/lib/schedule.js';
import { sources } from '../../scripts/lib/sources.js';
import { MUTANTS } from '../mutation/mutants.js';

/**
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string | Uint8Array>} files
 */
function folder(t, files) {
    const path = mkdtempSync(join(tmpdir(), 'tabacus-scripts-'));
    t.after(() => rmSync(path, { recursive: true }));
    for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(path, name, '..'), { recursive: true });
        writeFileSync(join(path, name), text);
    }
    return path;
}

test('the mirror of the main archive is found in one-line sources', (t) => {
    const apt = folder(t, {
        'sources.list': [
            'deb http://other.test/sdk sdk-bookworm main',
            'deb http://one.test/debian-security bookworm-security main',
            '# deb http://off.test/debian bookworm main',
            'deb-src http://src.test/debian bookworm main',
            'deb [arch=amd64 signed-by=/k] http://two.test/debian bookworm main contrib # ours',
        ].join('\n'),
    });
    assert.equal(debianMirror(apt), 'http://two.test/debian');
});

test('the mirror of the main archive is found in deb822 sources', (t) => {
    const security = 'Types: deb\nURIs: http://one.test/debian-security\nSuites: trixie-security\n';
    const off = 'Types: deb\nEnabled: no\nURIs: http://off.test/debian\nSuites: trixie\n';
    const main = 'Types: deb deb-src\n# a note\nURIs: http://two.test/debian/\nSuites: trixie\n';
    const paragraphs = [security, off, main].map((part) => `${part}Components: main\n`);
    const apt = folder(t, { 'sources.list.d/debian.sources': paragraphs.join('\n') });
    assert.equal(debianMirror(apt), 'http://two.test/debian/');
});

test('no mirror is found in the sources of another system', (t) => {
    const apt = folder(t, { 'sources.list': 'deb http://one.test/ubuntu noble main universe' });
    assert.equal(debianMirror(apt), undefined);
});

test('the glue gets its platform as a constant, and glue that detects it in another way is refused', () => {
    const glue =
        'var ENVIRONMENT_IS_WEB=!!globalThis.window;var ENVIRONMENT_IS_NODE=a&&b;f(ENVIRONMENT_IS_NODE)';
    assert.equal(forOne(glue, 'web'), glue.replace('a&&b', 'false'));
    assert.equal(forOne(glue, 'node'), glue.replace('a&&b', 'true').replace('!!globalThis.window', 'false'));
    assert.throws(
        () => forOne('const ENVIRONMENT_IS_NODE=a;f(ENVIRONMENT_IS_NODE)', 'web'),
        /ENVIRONMENT_IS_NODE/,
    );
});

test('tests are counted from the reports of their runners', () => {
    assert.deepEqual(nodeCounts('ℹ tests 9\nℹ pass 5\nℹ fail 1\nℹ cancelled 1\nℹ skipped 2\n'), {
        passed: 5,
        failed: 2,
        skipped: 2,
    });
    const xml = `<testsuite name="x" errors="1" failures="1" skipped="1" tests="700">
        <testcase name="one" time="0.1" status="run"/>
        <testcase name="two" time="0.1" status="run"></testcase>
        <testcase name="three" time="0.1" status="run"><failure message="CHECK( false )">x</failure>
        </testcase>
        <testcase name="four" time="0.1" status="run"><error type="THREW">y</error></testcase>
        <testcase name="five" time="0.1" status="run"><skipped message="SKIP"/></testcase>`;
    assert.deepEqual(catchCounts(xml), { passed: 2, failed: 2, skipped: 1 });
    assert.deepEqual(plainCounts('1 passed, 1 failed\nlast:\n12 passed, 0 failed\n'), {
        passed: 12,
        failed: 0,
        skipped: 0,
    });
    assert.equal(closingLine({ passed: 3, failed: 0, skipped: 2 }), '3 passed, 0 failed, 2 skipped');
});

test('the tasks that need a failed one are left out, and no others', async () => {
    /** @type {string[]} */
    const begun = [];
    /**
     * @param {string} name
     * @param {string[]} needs
     * @param {boolean} fails
     */
    const task = (name, needs, fails = false) => ({
        name,
        needs,
        cores: 1,
        run: async () => {
            begun.push(name);
            if (fails) throw new Error(name);
        },
    });
    const tasks = [task('a', [], true), task('b', ['a']), task('c', ['b']), task('d', [])];
    const states = await schedule(tasks, 1);
    assert.deepEqual([...states.values()], ['failed', 'left out', 'left out', 'done']);
    assert.deepEqual(begun, ['a', 'd']);
    assert.deepEqual(
        withNeeds(tasks, ({ name }) => name === 'c').map(({ name }) => name),
        ['a', 'b', 'c'],
    );
});

test('tasks that run at once need no more cores than there are', async () => {
    let running = 0;
    let most = 0;
    const tasks = [2, 1, 1, 2, 0].map((cores, index) => ({
        name: `${index}`,
        needs: [],
        cores,
        run: async () => {
            most = Math.max(most, (running += cores));
            await new Promise(setImmediate);
            running -= cores;
        },
    }));
    await schedule(tasks, 2);
    assert.equal(most, 2);
});

test('a task that needs no core begins although every core is busy and other tasks wait', async () => {
    /** @type {string[]} */
    const begun = [];
    let free = () => {};
    const busy = new Promise((resolve) => (free = () => resolve(undefined)));
    /** @param {string} name @param {number} cores @param {() => Promise<unknown>} body */
    const task = (name, cores, body) => ({
        name,
        needs: [],
        cores,
        run: async () => {
            begun.push(name);
            await body();
        },
    });
    await schedule(
        [
            task('computes', 2, () => busy),
            task('is next', 2, async () => {}),
            task('waits', 0, async () => free()),
        ],
        2,
    );
    assert.deepEqual(begun, ['computes', 'waits', 'is next']);
});

test('an attached module with data, a start function or a table is refused', (t) => {
    const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const global = [6, 6, 1, 0x7f, 1, 0x41, 0, 0x0b];
    const name = [...'__stack_pointer'].map((letter) => letter.charCodeAt(0));
    const exported = [7, 19, 1, 15, ...name, 3, 0];
    const table = [4, 4, 1, 0x70, 0, 0];
    const path = folder(t, {
        'good.wasm': Uint8Array.from([...header, ...global, ...exported]),
        'table.wasm': Uint8Array.from([...header, ...table, ...global, ...exported]),
        'bare.wasm': Uint8Array.from(header),
    });
    checkAttach(join(path, 'good.wasm'));
    assert.throws(() => checkAttach(join(path, 'table.wasm')), /has a table/);
    assert.throws(() => checkAttach(join(path, 'bare.wasm')), /no exported __stack_pointer/);
});

test('a planted fault finds its place whatever the layout, if there is exactly one such place', () => {
    const source = 'if (a) {\n    call(first,\n         second);\n}';
    assert.equal(patchSource(source, 'call(first, second);', 'skip();'), 'if (a) {\n    skip();\n}');
    assert.equal(patchSource(source, 'call(firstsecond);', ''), undefined);
    assert.equal(patchSource(`${source} call(first, second);`, 'call(first, second);', ''), undefined);
});

test('the text that a planted fault replaces stands exactly once in its file', () => {
    const lost = [...PLANTED, ...MUTANTS].filter(({ file, find, replace }) => {
        const source = readFileSync(join(repository, file), 'utf8');
        return patchSource(source, find, replace) === undefined;
    });
    assert.deepEqual(
        lost.map(({ file, find }) => `${file}: ${find}`),
        [],
    );
});

test('a planted fault of the replica, of a lock or of a queue names the class that it breaks', () => {
    const headers = sources('wasm/src/protocol/**.hpp', 'wasm/include/tabacus/**.hpp')
        .map((file) => readFileSync(join(repository, file), 'utf8'))
        .join('');
    const nameless = MUTANTS.filter(({ file }) => /\/protocol\/(?:replica|lock|queue)\//.test(file))
        .filter(({ fault }) => {
            const [, broken] = /^([A-Z]\w+): /.exec(fault) ?? [];
            return !broken || !new RegExp(`^(?:class|struct) ${broken}\\b`, 'm').test(headers);
        })
        .map(({ name, fault }) => `${name}: ${fault}`);
    assert.deepEqual(nameless, []);
});

test('the test that must kill a planted fault exists', () => {
    const tests = sources('tests/native/**.cpp')
        .map((file) => readFileSync(join(repository, file), 'utf8'))
        .join('');
    for (const { name, test: killer } of MUTANTS) {
        const written = killer.replace(/ - \w+$/, ''); // the name of a template's instance ends with its type
        assert.ok(tests.includes(`"${written}"`), `${name}: ${killer}`);
    }
});

test('the Dockerfile installs the toolchain of the recipe, and the browsers', () => {
    const words = new Set(readFileSync(join(repository, 'Dockerfile'), 'utf8').split(/\s+/));
    /** Debian forky's name of the driver. @param {string} name */
    const inForky = (name) => (name === 'webkit2gtk-driver' ? 'webkitgtk-webdriver' : name);
    for (const name of [...PACKAGES, ...NEEDS.map(({ apt }) => apt)]) {
        assert.ok(words.has(inForky(name)), name);
    }
    for (const [name, target] of Object.entries(LINKS))
        assert.ok(words.has(`/usr/bin/${name}`) && words.has(target));
});
