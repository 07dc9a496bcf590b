/** What is let go leaves nothing behind in the memory of a program, which never shrinks. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** The names of a round: more of them than the memory with which a program starts has room for. */
const names = 600;

/** Opens a tab, and returns it with its program's memory. @param {any} window */
async function openTab(window) {
    const { Memory, instantiate } = WebAssembly;
    /** @type {WebAssembly.Memory[]} */
    const memories = [];
    WebAssembly.instantiate = /** @type {any} */ (
        async (/** @type {any} */ source, /** @type {any} */ imports) => {
            const made = /** @type {any} */ (await instantiate(source, imports));
            const { exports } = made.instance ?? made;
            for (const value of Object.values(exports)) if (value instanceof Memory) memories.push(value);
            return made;
        }
    );
    try {
        const tab = await open({ window });
        const memory = memories.at(-1); // another one is the emulator's
        assert.ok(memory);
        return { tab, size: () => memory.buffer.byteLength };
    } finally {
        WebAssembly.instantiate = instantiate;
    }
}

it('locks of ever new names, which are held together and let go, take no more memory than those of one round', async () => {
    const origin = await createOrigin();
    const { window } = origin.openTab();
    const { tab, size } = await openTab(window);
    /** @type {number[]} */
    const sizes = [];
    for (let round = 0; round < 4; ++round) {
        await Promise.all(
            Array.from({ length: names }, (_, at) => tab.lock(`name ${at} of round ${round}`).run(() => {})),
        );
        await new Promise((resolve) => window.setTimeout(resolve, 10_000));
        sizes.push(size());
    }
    assert.ok(Number(sizes[0]) > 2 ** 20, `${sizes}`); // more than at the start
    assert.deepEqual([...new Set(sizes)], [sizes[0]]);
    origin.close();
});
