/** Opens a tab of the package, and hands it to the parts of the page. */

import { showCapabilities } from './capabilities.js';
import { showCards } from './cards.js';
import { openChannel } from './channel.js';
import { one } from './dom.js';
import { followEvents, log, report } from './log.js';
import { open } from './package.js';
import { showPlot } from './plot.js';
import { join } from './presence.js';
import { takePart } from './race.js';
import { showRace } from './race-panel.js';
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
    takePart(channel, presence, counters);
    showPlot(channel);
    showRace(channel, presence, { log, report });
}

/** @param {unknown} error */
function showFailure(error) {
    const notice = /** @type {HTMLElement} */ (one('#failure'));
    notice.textContent = `This page could not start: ${error instanceof Error ? error.message : error}`;
    notice.hidden = false;
}

start().catch(showFailure);
showThreads(report);
