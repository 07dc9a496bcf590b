/**
 * A Worker that uses all objects of a shared memory without end, until it is terminated. It writes into its notes what
 * it has completed. One such Worker survives, and pauses on command.
 */

/** The words of the notes. */
export const words = {
    round: 0,
    pause: 1,
    ready: 2,
    paused: 3,
    faults: 4,
    // What the mutex guards, what the reader-writer lock guards, and how often each reported a death.
    first: 5,
    second: 6,
    notified: 7,
    rwFirst: 8,
    rwSecond: 9,
    rwNotified: 10,
    // How often the function of the round has run to its end, and which call of it has returned.
    onceBegunByMortal: 11,
    onceBySurvivor: 12,
    onceByMortal: 13,
    onceReturned: 14,
    onceInside: 15,
    // The thread that waits for deaths.
    waits: 16,
    woken: 17,
    end: 18,
};

/** The indices of the numbers of each Worker in its notes of sums. */
export const sums = {
    atomic: 0,
    mutexed: 1,
    striped: 2,
    tab: 3,
    atomicIntent: 4,
    mutexedIntent: 5,
    stripedIntent: 6,
    tabIntent: 7,
    end: 8,
};

/** The counters of the memory. @type {readonly ('atomic' | 'mutexed' | 'striped')[]} */
export const counterKinds = ['atomic', 'mutexed', 'striped'];

/** The mutexes and the reader-writer locks are used in turn, one of each for a round. */
export const locksMax = 16;

/** The number of rounds in which new names are opened, so that the memory has space for all. */
const namesMax = 50;

/** The permits of the semaphore `slots`. The semaphore `permit` has one. */
export const slots = 3;

/** How long a Worker stays inside, so that it often dies there. */
const insideRounds = 2_000;

/** An add of this amount makes a striped counter close its cells. */
export const amount = 2 ** 47;

/**
 * Where a Worker may stay until it is terminated: inside what a primitive guards, or blocked in a wait.
 *
 * @typedef {'' | 'mutex' | 'exclusive' | 'shared' | 'permit' | 'once' | 'barrier' | 'wait'} Place
 */

/** @type {readonly Place[]} */
export const places = ['mutex', 'exclusive', 'shared', 'permit', 'once', 'barrier', 'wait'];

/**
 * @typedef {object} Given
 * @property {import('tabacus/worker').SharedHandle} handle
 * @property {Int32Array} notes
 * @property {Int32Array} holder one word: the seed of the Worker that holds the semaphore `permit`
 * @property {BigInt64Array} own
 * @property {number} seed of no other Worker
 * @property {number} operations the number of operations after which the Worker reports that it is ready, or 0 for
 *   the one that survives. The others hold the mutex `life …` of their round as long as they live
 * @property {Place} stays where the Worker then stays; if nowhere, it goes on with its operations
 * @property {number} parties of the barriers. If there are more than two, all Workers meet at one barrier, and the
 *   last party is missing until the others are dead
 * @property {number} patience_ms the timeout of a wait that other Workers may prolong until they are terminated
 */

/**
 * @param {(handle: any) => Promise<import('tabacus/worker').AttachedMemory>} attach
 * @param {(below: number) => number} random
 * @param {Given} given
 */
export async function live(attach, random, given) {
    const shared = await attach(given.handle);
    await new Mortal(shared, random, given).live();
}

/**
 * Waits for deaths: blocks in a wait for a condition that nobody notifies.
 *
 * @param {(handle: any) => Promise<import('tabacus/worker').AttachedMemory>} attach
 * @param {{ handle: import('tabacus/worker').SharedHandle, notes: Int32Array }} given
 */
export async function waitForDeaths(attach, { handle, notes }) {
    const shared = await attach(handle);
    const [mutex, condition] = [shared.mutex('of deaths'), shared.condition('deaths')];
    for (mutex.lock(); ; signal(notes, words.woken, Atomics.load(notes, words.waits))) {
        signal(notes, words.waits, Atomics.load(notes, words.waits) + 1);
        condition.wait(mutex);
    }
}

/** @param {Int32Array} notes @param {number} word @param {number} value */
export function signal(notes, word, value) {
    Atomics.store(notes, word, value);
    Atomics.notify(notes, word);
}

class Mortal {
    #shared;
    #random;
    #given;
    #notes;

    /**
     * @param {import('tabacus/worker').AttachedMemory} shared
     * @param {(below: number) => number} random
     * @param {Given} given
     */
    constructor(shared, random, given) {
        this.#shared = shared;
        this.#random = random;
        this.#given = given;
        this.#notes = given.notes;
    }

    /** Runs random operations without end. */
    async live() {
        const { operations, stays } = this.#given;
        const mortal = operations > 0;
        if (mortal) this.#shared.mutex(`life ${this.#round % locksMax}`).lock();
        if (mortal) this.#barrier?.join();
        const tasks = this.#tasks();
        for (let done = 0; ; done++) {
            if (mortal && done === operations) {
                if (stays) await this.#stay(stays);
                signal(this.#notes, words.ready, 1);
            }
            if (!mortal) this.#pauseOnCommand();
            /** @type {() => void} */ (tasks[this.#random(tasks.length)])();
        }
    }

    get #round() {
        return Atomics.load(this.#notes, words.round);
    }

    /** The barrier of all Workers, or of the round, if that has one. */
    get #barrier() {
        const { parties } = this.#given;
        if (parties > 2) return this.#shared.barrier('step', parties);
        return hasBarrier(this.#round) ? this.#shared.barrier(`step ${this.#round}`, parties) : undefined;
    }

    #tasks() {
        const timed = { timeout: 60_000 };
        return [
            () => this.#lock(),
            () => this.#lock(timed),
            () => this.#lockExclusive(),
            () => this.#lockExclusive(timed),
            () => this.#lockShared(),
            () => this.#acquirePermit(),
            () => this.#acquireSlots(),
            () => this.#arrive(),
            () => this.#wait(),
            () => this.#shared.condition('condition').notifyOne(),
            () => this.#shared.condition('condition').notifyAll(),
            () => this.#mayCallOnce() && this.#callOnce(),
            ...counterKinds.map((kind) => () => this.#add(kind)),
            () => this.#addOverTabs(),
            () => this.#shared.mutex(`name ${this.#round % namesMax} ${this.#random(3)}`),
        ];
    }

    /** Stays in a place until the Worker is terminated. @param {Place} place */
    #stay(place) {
        const inside = { stays: true };
        const barrier = this.#barrier;
        if (place === 'mutex') this.#lock(inside);
        else if (place === 'exclusive') this.#lockExclusive(inside);
        else if (place === 'shared') this.#lockShared(inside);
        else if (place === 'permit') this.#acquirePermit(inside);
        else if (place === 'once') this.#callOnce(inside);
        else if (place === 'wait') this.#wait(inside);
        else if (barrier) {
            signal(this.#notes, words.ready, 1);
            barrier.arriveAndWait();
        }
    }

    #pauseOnCommand() {
        const notes = this.#notes;
        if (Atomics.load(notes, words.pause) === 0) return;
        this.#lock();
        this.#lockExclusive();
        signal(notes, words.paused, 1);
        Atomics.wait(notes, words.pause, 1);
    }

    /** Spins for a while. @param {boolean} stays whether it reports that it is ready, and spins for ever */
    #spin(stays) {
        if (stays) signal(this.#notes, words.ready, 1);
        const rounds = stays ? Infinity : insideRounds;
        for (let i = 0; i < rounds; i++) Atomics.load(this.#notes, words.first);
    }

    #noteFault() {
        Atomics.add(this.#notes, words.faults, 1);
    }

    /** @param {{ timeout?: number, stays?: boolean }} [how] */
    #lock({ timeout, stays = false } = {}) {
        const mutex = this.#shared.mutex(`mutex ${this.#round % locksMax}`);
        mutex.lock(timeout === undefined ? {} : { timeout });
        this.#write(mutex, words.first, words.second, words.notified, stays);
        mutex.unlock();
    }

    /** @param {{ timeout?: number, stays?: boolean }} [how] */
    #lockExclusive({ timeout, stays = false } = {}) {
        const lock = this.#shared.rwLock(`lock ${this.#round % locksMax}`);
        lock.lockExclusive(timeout === undefined ? {} : { timeout });
        this.#write(lock, words.rwFirst, words.rwSecond, words.rwNotified, stays);
        lock.unlockExclusive();
    }

    /**
     * Writes two words that are equal as long as nobody dies inside, and repairs them after a death.
     *
     * @param {{ ownerDied: boolean, markConsistent: () => void }} lock
     * @param {number} first
     * @param {number} second
     * @param {number} notified
     * @param {boolean} stays
     */
    #write(lock, first, second, notified, stays) {
        const notes = this.#notes;
        if (lock.ownerDied) {
            Atomics.add(notes, notified, 1);
            Atomics.store(notes, second, Atomics.load(notes, first));
            lock.markConsistent();
        }
        const next = Atomics.load(notes, first) + 1;
        if (Atomics.load(notes, second) + 1 !== next) this.#noteFault();
        Atomics.store(notes, first, next);
        this.#spin(stays);
        Atomics.store(notes, second, next);
    }

    /** @param {{ stays?: boolean }} [how] */
    #lockShared({ stays = false } = {}) {
        const notes = this.#notes;
        const lock = this.#shared.rwLock(`lock ${this.#round % locksMax}`);
        const broken = lock.lockShared();
        const seen = Atomics.load(notes, words.rwSecond);
        this.#spin(stays);
        const same =
            Atomics.load(notes, words.rwFirst) === seen && Atomics.load(notes, words.rwSecond) === seen;
        if (!broken && !same) this.#noteFault();
        lock.unlockShared();
    }

    /** @param {{ stays?: boolean }} [how] */
    #acquirePermit({ stays = false } = {}) {
        const { holder, seed } = this.#given;
        const permit = this.#shared.semaphore('permit', 1);
        while (!this.#acquire(permit)) if (!stays) return;
        Atomics.store(holder, 0, seed);
        this.#spin(stays);
        if (Atomics.load(holder, 0) !== seed) this.#noteFault();
        permit.release();
    }

    /** Returns whether a permit was acquired in time. @param {import('tabacus/worker').SharedSemaphore} semaphore */
    #acquire(semaphore) {
        try {
            semaphore.acquire({ timeout: this.#given.patience_ms });
            return true;
        } catch (error) {
            if (/** @type {Error} */ (error).name !== 'TimeoutError') throw error;
            return false;
        }
    }

    #acquireSlots() {
        const semaphore = this.#shared.semaphore('slots', slots);
        if (!this.#acquire(semaphore)) return;
        const more = semaphore.tryAcquire();
        this.#spin(false);
        semaphore.release(more ? 2 : 1);
    }

    #arrive() {
        const { parties, patience_ms } = this.#given;
        try {
            this.#barrier?.arriveAndWait(parties > 2 ? { timeout: patience_ms } : {});
        } catch (error) {
            if (/** @type {Error} */ (error).name !== 'TimeoutError') throw error;
        }
    }

    /** @param {{ stays?: boolean }} [how] */
    #wait({ stays = false } = {}) {
        const mutex = this.#shared.mutex('of the condition');
        mutex.lock();
        if (mutex.ownerDied) mutex.markConsistent();
        if (stays) signal(this.#notes, words.ready, 1);
        this.#shared.condition('condition').wait(mutex, { timeout: stays ? 60_000 : 1 });
        if (mutex.ownerDied) mutex.markConsistent();
        mutex.unlock();
    }

    /**
     * Whether this Worker calls the function now. Otherwise the function would have run long before the Worker that
     * dies inside it begins.
     */
    #mayCallOnce() {
        const { operations, stays } = this.#given;
        return operations > 0 ? stays !== 'once' : Atomics.load(this.#notes, words.ready) === 1;
    }

    /** @param {{ stays?: boolean }} [how] */
    #callOnce({ stays = false } = {}) {
        const notes = this.#notes;
        const { seed, operations } = this.#given;
        const ran = this.#shared.callOnce(`once ${this.#round}`, () => {
            if (operations > 0) Atomics.store(notes, words.onceBegunByMortal, 1);
            Atomics.store(notes, words.onceInside, seed);
            this.#spin(stays);
            if (Atomics.load(notes, words.onceInside) !== seed) this.#noteFault();
            Atomics.add(notes, operations > 0 ? words.onceByMortal : words.onceBySurvivor, 1);
        });
        if (ran) Atomics.add(notes, words.onceReturned, 1);
    }

    /** @param {typeof counterKinds[number]} kind */
    #add(kind) {
        const counter = this.#shared.counter(kind, { kind });
        const n = counter.value > 0 ? -amount : amount;
        this.#note(kind, n, () => void counter.add(n));
    }

    #addOverTabs() {
        const n = 1 + this.#random(3);
        this.#note('tab', n, () => this.#shared.tabCounter('visits').add(n));
    }

    /**
     * Notes the intent to add, adds, and notes the sum.
     *
     * @param {typeof counterKinds[number] | 'tab'} kind
     * @param {number} n
     * @param {() => void} add
     */
    #note(kind, n, add) {
        const { own } = this.#given;
        own[sums[`${kind}Intent`]] = BigInt(n);
        add();
        own[sums[kind]] = /** @type {bigint} */ (own[sums[kind]]) + BigInt(n);
        own[sums[`${kind}Intent`]] = 0n;
    }
}

/** Whether Workers meet at a barrier in that round. Each barrier counts the dead of its round out for ever. */
export const hasBarrier = (/** @type {number} */ round) => round % 4 === 0;
