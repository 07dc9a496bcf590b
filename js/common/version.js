/** The version of the package, for error messages: tests/node/tab-trap.test.js compares it with package.json. */
export const version = '0.2.0';
