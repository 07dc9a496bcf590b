/** The verdicts in docs/gallery.md are those that explorations find. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { explore, replay } from 'tabacus/emulator';
import { gallery } from './gallery.js';

const page = readFileSync(new URL('../../docs/gallery.md', import.meta.url), 'utf8');

/** A cell of the page's table. @param {import('tabacus/emulator').ExploreReport} report */
const cell = ({ verdict, seed, seeds }) =>
    verdict === 'broken' ? `seed ${seed}` : `nothing in ${seeds} seeds`;

describe('the gallery', { timeout: 120_000 }, async () => {
    for (const entry of await gallery()) {
        it(entry.name, async () => {
            const row = page.split('\n').find((line) => line.startsWith(`| ${entry.name} |`));
            for (const storage of /** @type {const} */ (['cached', 'interleaved'])) {
                const options = { seeds: 40, ...entry.options, storage };
                const report = await explore(entry.scenario, options);
                assert.equal(
                    report.verdict === 'broken' ? 'broken' : 'unbroken',
                    entry.verdicts[storage],
                    report.failure,
                );
                assert.ok(
                    row?.includes(cell(report)),
                    `${storage}: ${cell(report)} is not in the page's row: ${row}`,
                );
                if (report.verdict !== 'broken') continue;
                assert.ok(
                    [entry.claim, entry.orElse ?? entry.claim].some((text) => report.failure.endsWith(text)),
                    report.failure,
                );
                const again = await replay(
                    entry.scenario,
                    { seed: Number(report.seed), schedule: report.schedule ?? [] },
                    options,
                );
                assert.equal(again.failure, report.failure);
            }
        });
    }
});
