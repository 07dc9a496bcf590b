/** The page of the gallery: runs a recipe in two tabs of an emulated origin, and steps through the run that breaks it. */

import { make, one } from './dom.js';
import { recipes } from './gallery-recipes.js';
import { showTimeline } from './lab-timeline.js';
import { explore } from './package-emulator.js';

/** The number of seeds, the same as in docs/gallery.md. */
const SEEDS = 40;

const form = /** @type {HTMLFormElement} */ (one('#request'));
const start = /** @type {HTMLButtonElement} */ (one('#explore'));
const recipe = /** @type {HTMLSelectElement} */ (one('#recipe'));
const found = /** @type {HTMLElement} */ (one('#found'));

const chosen = () => /** @type {import('./gallery-recipes.js').Recipe} */ (recipes[recipe.selectedIndex]);

/**
 * The source of a function without its indentation. Its first line has none, since the source begins at the function.
 *
 * @param {Function} body
 */
function sourceOf(body) {
    const [first = '', ...rest] = String(body).split('\n');
    const margin = Math.min(...rest.filter((line) => line.trim()).map((line) => line.search(/\S/)));
    return [first, ...rest.map((line) => line.slice(margin))].join('\n');
}

/** @param {string} text @param {string} state */
function setVerdict(text, state) {
    one('#verdict').textContent = text;
    one('#gallery').setAttribute('data-state', state);
}

function showRecipe() {
    found.hidden = true;
    one('#source').textContent = sourceOf(chosen().scenario);
    setVerdict('Nothing explored yet', 'idle');
}

/** @param {import('tabacus/emulator').ExploreReport} report @param {string} claim */
function show({ verdict, failure, seed, seeds, trace, svg }, claim) {
    if (verdict !== 'broken')
        return setVerdict(
            `Nothing found in ${seeds} seeds: no run in which ${claim}. That is no proof`,
            'holds',
        );
    setVerdict(`Broken, seed ${seed}: ${failure}`, 'broken');
    found.hidden = false;
    showTimeline(trace ?? '');
    const picture = /** @type {HTMLImageElement} */ (one('#diagram'));
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg ?? '')}`;
    return undefined;
}

form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const { scenario, invariant, claim } = chosen();
    const storage = /** @type {'cached' | 'interleaved'} */ (new FormData(form).get('storage'));
    start.disabled = true;
    found.hidden = true;
    setVerdict('Exploring', 'running');
    try {
        show(await explore(scenario, { storage, seeds: SEEDS, invariant }), claim);
    } catch (error) {
        setVerdict(error instanceof Error ? error.message : String(error), 'failed');
    }
    start.disabled = false;
});
form.addEventListener('change', showRecipe);

recipe.replaceChildren(...recipes.map(({ name }) => make('option', { text: name })));
showRecipe();
start.disabled = false;
