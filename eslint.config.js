/** Rules that catch faults. Layout is nobody's business, types are tsc's. */

import js from '@eslint/js';
import compat from 'eslint-plugin-compat';
import esx from 'eslint-plugin-es-x';
import globals from 'globals';
import { importX } from 'eslint-plugin-import-x';

/**
 * Faults that tsc does not see.
 * @type {import('eslint').Linter.RulesRecord}
 */
const faults = {
    'array-callback-return': 'error',
    'consistent-this': 'error',
    'default-case-last': 'error',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-constructor-return': 'error',
    'no-else-return': 'error',
    'no-eval': 'error',
    'no-extend-native': 'error',
    'no-implicit-globals': 'error',
    'no-implied-eval': 'error',
    'no-new-func': 'error',
    'no-template-curly-in-string': 'error',
    'no-throw-literal': 'error',
    'no-unmodified-loop-condition': 'error',
    'no-unreachable-loop': ['error', { ignore: ['ForOfStatement'] }],
    'no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }],
    'no-use-before-define': ['error', { functions: false, classes: false, variables: false }],
    'no-useless-assignment': 'error',
    'no-var': 'error',
    'object-shorthand': 'error',
    'prefer-const': 'error',
    'prefer-promise-reject-errors': 'error',
    radix: 'error',
};

/**
 * How long a function may be, and words that the repository must not carry.
 * @type {import('eslint').Linter.RulesRecord}
 */
const limits = {
    'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
    'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'] }],
};

const named =
    'a call across the bridge has its name in the source, so that searching for the name finds it (bridge/exports.js)';

/**
 * No call across the bridge between JavaScript and C++ is selected by a string or a position.
 * @type {import('eslint').Linter.RulesRecord}
 */
const bridge = {
    'no-restricted-syntax': [
        'error',
        {
            selector:
                'MemberExpression[computed=true] > :matches(Identifier[name=/^_?(glue|core|host|bridge|exports|report)$/i], MemberExpression[property.name=/^_?(glue|core|host|bridge|exports|report)$/i], TSAsExpression).object',
            message: named,
        },
        { selector: 'CallExpression > MemberExpression[computed=true].callee', message: named },
    ],
};

/**
 * Which folders of js may import which. `target` is what imports, `from` what it may not import.
 * @type {import('eslint').Linter.RulesRecord}
 */
const layers = {
    'import-x/no-cycle': 'error',
    'import-x/no-restricted-paths': [
        'error',
        {
            zones: [
                {
                    target: ['./js/!(emulator)/**', './js/!(emulator).js'],
                    from: './js/emulator/**',
                    message: 'only js/emulator.js is the way into the emulator',
                },
                {
                    target: './js/!(tab|compat)/**',
                    from: './js/tab/**',
                    message: 'js/tab is built on everything else; common code lies in js/common',
                },
                {
                    target: './js/common/**',
                    from: ['./js/!(common)/**', './js/*.js'],
                    message: 'js/common imports nothing but itself',
                },
                {
                    target: './js/platform/**',
                    from: ['./js/!(common|platform)/**', './js/*.js'],
                    message: 'js/platform imports nothing but js/common',
                },
            ],
        },
    ],
};

/** The browsers in which the package works, as README says. */
const browsers = ['chrome >= 111', 'edge >= 111', 'safari >= 16.4', 'ios_saf >= 16.4', 'Firefox ESR'];

/**
 * Functions of the platform that one of the browsers lacks, and methods of the language that are newer than they are.
 * A method is known by its name alone, so those that iterators share with arrays are left out.
 * @type {import('eslint').Linter.RulesRecord}
 */
const support = {
    'compat/compat': 'error',
    'no-restricted-properties': [
        'error',
        { object: 'AbortSignal', property: 'any', message: 'Chromium has it since 116, Safari since 17.4' },
    ],
    ...Object.fromEntries(
        Object.entries(esx.configs['flat/restrict-to-es2022'].rules ?? {}).filter(
            ([name]) => !name.startsWith('es-x/no-iterator-prototype-'),
        ),
    ),
};

/** @type {import('eslint').Linter.Config[]} */
export default [
    { ignores: ['build/', 'dist/', 'tests/consumers/fixtures/'] },
    js.configs.recommended,
    {
        linterOptions: { reportUnusedDisableDirectives: 'error' },
        languageOptions: {
            ecmaVersion: 2025,
            sourceType: 'module',
            globals: globals['shared-node-browser'],
        },
        rules: { ...faults, ...limits },
    },
    {
        files: ['js/**'],
        plugins: { 'import-x': /** @type {any} */ (importX) },
        settings: { 'import-x/extensions': ['.js'] },
        rules: layers,
    },
    { files: ['js/**'], ignores: ['js/{lab,emulator,threads}/**'], rules: bridge },
    {
        files: ['js/**'],
        // The emulator is for tests, in Node and in browsers of today.
        ignores: ['js/emulator/**', 'js/**/*.node.js'],
        plugins: { compat: /** @type {any} */ (compat), 'es-x': /** @type {any} */ (esx) },
        settings: { browsers, 'es-x': { aggressive: true } },
        rules: support,
    },
    {
        files: ['js/threads/waiting.js'], // which looks whether there is waitAsync
        settings: { polyfills: ['Atomics.waitAsync'] },
        rules: { 'es-x/no-atomics-waitasync': 'off' },
    },
    {
        files: ['js/*/generated/**'],
        rules: { 'max-lines-per-function': 'off', 'no-unused-vars': 'off' },
    },
    {
        files: ['js/**', 'web/**', 'demo/**'],
        languageOptions: { globals: { ...globals.browser, ...globals.worker } },
    },
    {
        files: ['examples/**'],
        languageOptions: { globals: { ...globals.browser, ...globals.worker, ...globals.webextensions } },
    },
    {
        files: ['bin/**', 'scripts/**', 'tests/**', 'bench/**', 'web/**', 'js/**/*.node.js', '*.js'],
        languageOptions: { globals: globals.node },
    },
    {
        files: ['tests/**', 'bench/**'],
        languageOptions: { globals: { ...globals.browser, ...globals.worker } },
        rules: { 'max-lines-per-function': 'off' },
    },
];
