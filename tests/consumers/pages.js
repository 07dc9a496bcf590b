/** The examples of the package's pages, as TypeScript reads them in the project of a user. */

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The sign for omitted code in an example. */
const omitted = /…/g;
/** The place before the comment with which another file begins. */
const nextFile = /^(?=\/\/ (?:worker\.js|in (?:any|whoever)))/m;

/** The imports of examples that show none. */
const imports = `import { open } from 'tabacus';
import { threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
`;

/** @param {string} page */
const examplesOf = (page) =>
    [...page.matchAll(/^```js\n(.*?)^```$/gms)].flatMap(([, code = '']) => code.split(nextFile));

/**
 * Writes each example as a module of its own. types/pages.d.ts declares the objects that examples do not define.
 *
 * @param {string} root of the package
 * @param {string} folder
 * @returns {Promise<number>} the number of examples
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
