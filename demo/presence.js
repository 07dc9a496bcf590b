/**
 * Knows which tabs are open. Each tab holds a Web Lock of its own name as long as it is open, and the browser
 * releases it if the tab is closed, crashes or is killed. So the list of held locks is the list of open tabs, and no
 * heartbeat is needed. The message `hello` only starts the next query early.
 */

const SEAT = 'tabacus-demo/seat/';
const TAB = 'tabacus-demo/tab/';

/** The interval of the queries, which find tabs that ended without a message. */
const UPDATE_ms = 500;

/** @typedef {{ id: string, seat: number, mine: boolean }} OpenTab  `seat` is the number that the page shows for it */

/**
 * @typedef {object} Presence
 * @property {OpenTab} me
 * @property {() => readonly OpenTab[]} tabs  in the order of their seats
 * @property {(changed: (tabs: readonly OpenTab[]) => void) => () => void} subscribe
 */

/**
 * @param {import('./channel.js').Channel} channel
 * @returns {Promise<Presence>}
 */
export async function join(channel) {
    if (!navigator.locks) throw new Error('this page has no Web Locks; open it over https or at localhost');
    const me = await takeSeat();
    let tabs = [me];
    /** @type {Set<(tabs: readonly OpenTab[]) => void>} */
    const watchers = new Set();

    const update = async () => {
        const seen = await openTabs(me);
        if (String(seen.map(({ id }) => id)) === String(tabs.map(({ id }) => id))) return;
        tabs = seen;
        for (const changed of watchers) changed(tabs);
    };
    channel.on('hello', update);
    channel.on('bye', update);
    channel.send({ type: 'hello' });
    addEventListener('pagehide', () => channel.send({ type: 'bye' }));
    addEventListener('visibilitychange', update);
    setInterval(update, UPDATE_ms);
    await update();
    return {
        me,
        tabs: () => tabs,
        subscribe(changed) {
            watchers.add(changed);
            changed(tabs);
            return () => watchers.delete(changed);
        },
    };
}

/** Takes the lowest free number, and a name with it that no other tab ever has. */
async function takeSeat() {
    const id = crypto.randomUUID().slice(0, 8);
    let seat = 1;
    while (!(await hold(`${SEAT}${seat}`))) seat += 1;
    await hold(`${TAB}${seat}-${id}`);
    return { id: `${seat}-${id}`, seat, mine: true };
}

/**
 * @param {string} name
 * @returns {Promise<boolean>} whether this tab holds the lock; then it does until it ends
 */
function hold(name) {
    return new Promise((resolve, reject) => {
        const untilTheEnd = (/** @type {Lock | null} */ lock) => {
            resolve(lock !== null);
            return lock === null ? undefined : new Promise(() => {});
        };
        navigator.locks.request(name, { ifAvailable: true }, untilTheEnd).catch(reject);
    });
}

/**
 * @param {OpenTab} me
 * @returns {Promise<OpenTab[]>}
 */
async function openTabs(me) {
    const { held = [] } = await navigator.locks.query();
    return held
        .map(({ name = '' }) => name)
        .filter((name) => name.startsWith(TAB))
        .map((name) => name.slice(TAB.length))
        .map((id) => ({ id, seat: Number.parseInt(id, 10), mine: id === me.id }))
        .sort((a, b) => a.seat - b.seat);
}
