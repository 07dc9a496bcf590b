/** The web bundle of tabacus, run as the text of a page's script in scenarios of explore(). */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { explore } from 'tabacus/emulator';

/** @param {string} name */
const file = (name) => readFileSync(new URL(`../../dist/web/${name}`, import.meta.url));

it('two explorations of the web bundle in tabs are equal', { timeout: 120_000 }, async () => {
    const text = `${file('tabacus.js')}`;
    const wasm = { counters: file('counters.wasm') };
    const explored = () =>
        explore(
            async (tab) => {
                const { open } = await tab.run(text);
                const counter = (await open({ wasm })).counter('n');
                counter.add(1);
                await counter.flush();
                return counter.value;
            },
            {
                seeds: 20,
                faults: ['kill'],
                invariant: ({ tabs, results }) =>
                    results.filter(Boolean).length >= tabs.filter(({ closed }) => !closed).length,
            },
        );
    const report = await explored();
    assert.equal(report.failure, '');
    assert.deepEqual(await explored(), report);
});
