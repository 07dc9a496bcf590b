/** The examples of the package's pages, as TypeScript would read them in a user's project. */

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What stands in an example for the code that it leaves out, and where another file begins. */
const omitted = /…/g;
const nextFile = /^(?=\/\/ (?:worker\.js|in (?:any|whoever)))/m;

/** The imports of examples that have none of their own. */
const imports = `import { open } from 'tabacus';
import { threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
`;

/** @param {string} page */
const examplesOf = (page) =>
    [...page.matchAll(/^```js\n(.*?)^```$/gms)].flatMap(([, code = '']) => code.split(nextFile));

/**
 * Writes each example as a module of its own; what it takes for granted is in types/pages.d.ts.
 *
 * @param {string} root of the package
 * @param {string} folder
 * @returns {Promise<number>} how many
 */
export async function writeExamples(root, folder) {
    await mkdir(folder);
    const pages = [
        'README.md',
        ...(await readdir(join(root, 'docs')))
            .filter((name) => name.endsWith('.md'))
            .map((name) => `docs/${name}`),
    ];
    let count = 0;
    for (const page of pages) {
        for (const [at, code] of examplesOf(await readFile(join(root, page), 'utf8')).entries()) {
            const name = `${page.replace(/\W+/g, '-')}-${at + 1}.ts`;
            const head = code.includes("from 'tabacus") ? '' : imports;
            await writeFile(join(folder, name), `${head}${code.replace(omitted, '')}export {};\n`);
            count++;
        }
    }
    return count;
}
