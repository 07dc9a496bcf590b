/** Shows one counter over the Workers of all tabs: a run, and what it has counted. */

import { one, showNumber } from './dom.js';
import { integer } from './format.js';

/** @typedef {import('./crew.js').Tab} Tab */
/** @typedef {import('./presence.js').OpenTab} OpenTab */

/** What a tab reports at the end of a run. @typedef {{ id: string, name: string, added: number }} Done */

/** The interval at which a run looks whether a tab has ended. */
const LOOK_ms = 250;

/**
 * @param {Tab} tab
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {(error: unknown) => void} report
 */
export function showCrew(tab, channel, presence, report) {
    if (!globalThis.crossOriginIsolated) return enter('unavailable');
    channel.on('crew-run', async ({ name, killer }) => {
        try {
            const { countWithCrew } = await import('./crew.js');
            const added = await countWithCrew(tab, { name, kill: killer === presence.me.id });
            channel.send({ type: 'crew-done', id: presence.me.id, name, added });
        } catch (error) {
            report(error);
        }
    });
    for (const button of buttons()) {
        const kills = button.dataset['kill'] !== undefined;
        button.disabled = false;
        button.addEventListener('click', () => run(tab, channel, presence, kills).catch(report));
    }
    one('#crew-verdict').textContent = 'Every open tab takes part.';
    enter('idle');
}

/**
 * Lets all tabs count in a new counter, and shows the sum.
 *
 * @param {Tab} tab
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {boolean} kills  whether one Worker of this tab is killed
 */
async function run(tab, channel, presence, kills) {
    enter('running');
    for (const button of buttons()) button.disabled = true;
    const name = `crew/${crypto.randomUUID()}`;
    const started = presence.tabs();
    const done = await collect(channel, presence, name, () =>
        channel.send({ type: 'crew-run', name, killer: kills ? presence.me.id : '' }),
    );
    const counted = await tab.counter(name).read();
    const { WORKERS, ADDS } = await import('./crew.js');
    const added = [...done.values()].reduce((sum, one) => sum + one, 0);
    const lost = started.filter(({ id }) => !done.has(id)).length;
    show('tabs', started.length);
    show('added', added);
    show('counted', counted);
    // A Worker may be killed between its add and its report, and a closed tab reports nothing.
    const spare = (kills ? 1 : 0) + lost * WORKERS * ADDS;
    const exact = counted >= added && counted <= added + spare;
    const fate = [kills && 'a worker was killed', lost > 0 && `tabs closed: ${lost}`]
        .filter(Boolean)
        .join(', ');
    one('#crew-verdict').textContent = exact
        ? `Nothing is lost, and nothing counted twice${fate && ` (${fate})`}.`
        : `The counter is wrong: ${integer(counted)} instead of ${integer(added)}.`;
    for (const button of buttons()) button.disabled = false;
    enter(exact ? 'exact' : 'wrong');
}

/**
 * Resolves once each tab has reported or ended, with what the tabs have added.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @param {string} name
 * @param {() => void} start
 * @returns {Promise<Map<string, number>>}
 */
function collect(channel, presence, name, start) {
    /** @type {Map<string, number>} */
    const done = new Map();
    return new Promise((resolve) => {
        const look = () => {
            if (!presence.tabs().every(({ id }) => done.has(id))) return;
            clearInterval(timer);
            stop();
            resolve(done);
        };
        const timer = setInterval(look, LOOK_ms);
        const stop = channel.on('crew-done', (/** @type {Done} */ message) => {
            if (message.name === name) done.set(message.id, message.added);
            look();
        });
        start();
    });
}

/** @param {string} role @param {number} value */
function show(role, value) {
    showNumber(/** @type {HTMLDataElement} */ (one(`#crew [data-role="${role}"]`)), value, integer);
}

/** @returns {NodeListOf<HTMLButtonElement>} */
const buttons = () => one('#crew').querySelectorAll('button');

/** @param {'idle' | 'running' | 'exact' | 'wrong' | 'unavailable'} state */
function enter(state) {
    /** @type {HTMLElement} */ (one('#crew')).dataset['state'] = state;
}
