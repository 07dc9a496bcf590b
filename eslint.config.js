/** Rules that catch faults. Layout is nobody's business, types are tsc's. */

import js from '@eslint/js';
import globals from 'globals';

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
        files: ['js/**', 'web/**', 'demo/**'],
        languageOptions: { globals: { ...globals.browser, ...globals.worker } },
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
