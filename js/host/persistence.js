/** The option `persist` of open(): asks the browser to keep the data of the origin. */

/**
 * What is used of the platform's StorageManager.
 *
 * @typedef {object} PersistentStorage
 * @property {() => Promise<boolean>} [persist]
 * @property {() => Promise<{ usage?: number, quota?: number }>} [estimate]
 */

/**
 * Asks the browser not to evict the data of the origin, and finds out how much it may store.
 *
 * @param {import('./host.js').Host} host keeps the answer
 * @param {import('./host.js').Platform} platform
 */
export async function persist(host, platform) {
    const { storage } = platform.navigator ?? {};
    if (!storage?.persist) return; // an insecure context
    // A browser may ask the user, who may take any time, and it refuses in a frame without storage.
    const persisted = await storage.persist().catch(() => false);
    const { usage, quota } = (await storage.estimate?.().catch(() => undefined)) ?? {};
    const estimate = quota === undefined ? {} : { estimate: { usage: usage ?? 0, quota } };
    host.persistence = { persisted, ...estimate };
    host.capabilitiesChanged();
    if (persisted) return;
    const message =
        'The browser has refused to keep the data of this site: it may discard them when it needs space.';
    host.warn('not-persisted', message, 'navigator.storage.persist()');
}
