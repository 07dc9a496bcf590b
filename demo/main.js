/** Opens a tab of the package, and passes it to the parts of the page. */

import { showCapabilities } from './capabilities.js';
import { showCards } from './cards.js';
import { openChannel } from './channel.js';
import { showCrew } from './crew-panel.js';
import { one } from './dom.js';
import { followEvents, log, report } from './log.js';
import { open } from './package.js';
import { join } from './presence.js';
import { takePart } from './race.js';
import { showRace } from './race-panel.js';
import { showSession } from './session-panel.js';
import { openCounters } from './strategies.js';
import { showTabs } from './tabs-panel.js';
import { showThreads } from './threads-panel.js';

async function start() {
    const tab = await open({ namespace: 'demo' });
    followEvents(tab);
    showCapabilities(tab.capabilities);
    const counters = openCounters(tab);
    showCards(counters, report);

    const channel = openChannel();
    const presence = await join(channel);
    showTabs(presence);
    showCrew(tab, channel, presence, report);
    showSession(tab, channel, presence, report);
    takePart(channel, presence, counters);
    await drawPlot(channel);
    showRace(channel, presence, { log, report });
}

/**
 * Shows the plot, or hides its section if uPlot fails to load. It does in a WebKitGTK with the locale C, since
 * `navigator.language` is not a language tag there.
 *
 * @param {import('./channel.js').Channel} channel
 */
async function drawPlot(channel) {
    try {
        const { showPlot } = await import('./plot.js');
        showPlot(channel);
    } catch (error) {
        /** @type {HTMLElement} */ (one('.plot')).hidden = true;
        log(`The plot cannot be shown: ${error}`);
    }
}

start().catch(reportError); // failure.js shows it
showThreads(report);
