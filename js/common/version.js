/** Of the package, for errors: tests/node/versions.test.js compares it with package.json. */
export const version = '0.2.0';
