/**
 * npm run litmus -- [--rounds N] [--seed N] [--engine chromium|firefox|webkit] [--only program]…
 *                   [--json | --markdown]
 *
 * Runs the litmus programs of tests/litmus in a real browser. Prints every outcome that was seen, beside the outcomes
 * that the laboratory's model of localStorage allows and forbids. The model describes the storage of Chromium: if
 * Chromium shows an outcome that the model forbids, the run fails.
 */

import { Failure, main } from './lib/failure.js';
import { browsers } from './lib/browsers.js';
import { nodeModules } from './lib/node-modules.js';
import { optionsOf } from './lib/options.js';

const options = optionsOf({
    rounds: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    engine: { type: 'string', default: 'chromium' },
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
});

/** @param {string} name @param {string} text */
function positive(name, text) {
    const value = Number(text);
    if (Number.isInteger(value) && value > 0) return value;
    throw new Failure(`--${name} must be an integer of at least 1, but is "${text}"`);
}

/** @param {readonly import('../tests/litmus/programs.js').Program[]} all */
function chosen(all) {
    const unknown = options.only?.find((name) => !all.some((program) => program.name === name));
    if (unknown)
        throw new Failure(
            `unknown program "${unknown}"; choose one of: ${all.map(({ name }) => name).join(', ')}`,
        );
    return all.filter(({ name }) => options.only?.includes(name) ?? true);
}

/**
 * @param {import('../tests/litmus/outcomes.js').Judged[]} all
 * @param {typeof import('../tests/litmus/outcomes.js')} words
 */
function print(all, { markdown, report }) {
    if (options.json) console.log(JSON.stringify(all, null, 2));
    else if (options.markdown) console.log(markdown(all));
    else console.log(all.map(report).join('\n\n'));
}

await main(async () => {
    const rounds = positive('rounds', options.rounds);
    const seed = positive('seed', options.seed);
    await nodeModules();
    await browsers();
    const { ENGINES } = await import('../tests/browser/harness/engines.js');
    const { serveSite } = await import('../tests/browser/harness/site.js');
    const { allowedIn, PROGRAMS } = await import('../tests/litmus/programs.js');
    const words = await import('../tests/litmus/outcomes.js');
    const { openTabs, runProgram } = await import('../tests/litmus/run.js');
    const engine = ENGINES[/** @type {keyof typeof ENGINES} */ (options.engine)];
    if (!engine)
        throw new Failure(
            `unknown engine "${options.engine}"; choose one of: ${Object.keys(ENGINES).join(', ')}`,
        );
    if (engine.missing) throw new Failure(engine.missing);
    const programs = chosen(PROGRAMS);
    const site = await serveSite();
    const browser = await engine.launch();
    try {
        const tabs = await openTabs(() => browser.openTab(`${site.url}/litmus.html`), programs);
        const all = [];
        for (const program of programs) {
            process.stderr.write(`· ${program.name} …\n`);
            all.push(await runProgram(tabs, program, { rounds, seed, allowed: allowedIn(engine.name) }));
        }
        print(all, words);
        const wrong = all.filter((judged) => !words.isSound(judged)).map(({ name }) => name);
        if (wrong.length > 0)
            process.stderr.write(`\nseen, but not allowed by the model: ${wrong.join(', ')}\n`);
        if (wrong.length > 0 && engine === ENGINES.chromium) process.exitCode = 1;
    } finally {
        await browser.close();
        await site.close();
    }
});
