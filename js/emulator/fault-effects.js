/** The effects of an exploration's faults on a tab, or on the stores and locks that the tabs share. */

/** @typedef {import('./origin.js').Origin} Origin */
/** @typedef {import('./emulated-tab.js').Tab} Tab */

/** How far the wall clock jumps, in either direction. */
const day_ms = 86_400_000;

export class FaultEffects {
    #origin;
    #quota_bytes;
    #full = false;

    /** Functions that answer what waits, by fault and tab. @type {Map<string, () => void>} */
    #hanging = new Map();

    /** @param {Origin} origin @param {number | undefined} quota_bytes the capacity while the storages are not full */
    constructor(origin, quota_bytes) {
        this.#origin = origin;
        this.#quota_bytes = quota_bytes;
    }

    /** @param {import('../lab/faults.js').EmulatedFault} fault @param {Tab} tab */
    async apply(fault, tab) {
        const origin = this.#origin;
        switch (fault) {
            case 'kill':
                return tab.kill();
            case 'freeze':
                return tab.frozen ? tab.thaw() : tab.freeze();
            case 'suspend':
                return tab.suspended ? tab.wake() : tab.suspend();
            case 'orphaned-lock':
                return tab.orphanLocks();
            case 'clock-jump':
                return origin.setClock(origin.clock.wall() + (origin.random.below(2) ? day_ms : -day_ms));
            case 'throttle':
                return tab.throttled ? tab.show() : tab.throttle();
            case 'bfcache':
                return tab.cached ? tab.thaw() : void (await tab.bfcache());
            case 'lose-database':
                return origin.loseDatabase();
            case 'close-connection':
                return origin.closeConnections(tab);
            case 'quota':
                this.#full = !this.#full;
                return origin.setQuota(this.#full ? 0 : this.#quota_bytes);
            case 'clear-storage':
                return origin.clearSiteData();
            case 'replace-lock-manager':
                return origin.clearSiteData({ newLockManager: true });
            case 'corrupt':
                return this.#corrupt(tab);
            case 'browser-crash':
                for (const one of [...origin.tabs]) one.kill();
                return undefined;
            default:
                return this.#breakPlatform(fault, tab);
        }
    }

    /**
     * Lets a part of the platform fail in a tab.
     *
     * @param {'deny-query' | 'refuse-locks' | 'dead-connection' | 'hang-open' | 'hang-transaction' | 'missing-chunk'} fault
     * @param {Tab} tab
     */
    #breakPlatform(fault, tab) {
        switch (fault) {
            case 'deny-query':
                return tab.denyQuery();
            case 'refuse-locks':
                return tab.refuseLocks();
            case 'dead-connection':
                return this.#killConnections(tab);
            case 'missing-chunk':
                return void tab.loseChunks(this.#origin.random.below(2) ? 1 : 5);
            default:
                return this.#hang(fault, tab);
        }
    }

    /** @param {Tab} tab */
    #killConnections(tab) {
        const { random } = this.#origin;
        const event = random.below(2) === 1;
        this.#origin.breakDatabase(tab, 'dead-connection', { event, forGood: random.below(4) === 0 });
    }

    /**
     * Lets openings or transactions of a tab wait, or answers them.
     *
     * @param {'hang-open' | 'hang-transaction'} fault
     * @param {Tab} tab
     */
    #hang(fault, tab) {
        const key = `${fault} ${tab.number}`;
        const end = this.#hanging.get(key);
        this.#hanging.delete(key);
        if (end) end();
        else this.#hanging.set(key, this.#origin.breakDatabase(tab, fault));
    }

    /** Answers all openings and transactions that wait. @returns {boolean} whether any fault ended */
    answerAll() {
        const ends = [...this.#hanging.values()];
        this.#hanging.clear();
        for (const end of ends) end();
        return ends.length > 0;
    }

    /** @param {Tab} tab */
    #corrupt(tab) {
        if (tab.closed) return;
        const localStorage = tab.context.original('localStorage');
        const { length } = localStorage;
        if (length > 0) this.#origin.corrupt(localStorage.key(this.#origin.random.below(length)));
    }
}
