/**
 * A tab of a litmus program (tests/litmus/programs.litmus). It runs the program for many rounds, each with keys of its
 * own, without messages from outside.
 *
 * A round ends for a tab when it has received a storage event of the last write of every other tab. All writes reach
 * all tabs in one order, so that all earlier writes have arrived by then. Tabs meet over a BroadcastChannel, which
 * orders no writes. The last tab to arrive begins the next round first, and each tab waits a random time more.
 */

import { seededRandom } from './seeded-random.js';

/** @typedef {import('../../litmus/programs.js').Program} Program */
/** @typedef {import('../../litmus/outcomes.js').Witness} Witness */

/**
 * The longest wait before a round is one of these: almost none, the time of a message to another process, the time of
 * a write, and more than that.
 */
const JITTERS_US = [50, 500, 1500, 5000];

/** The most turns that one `turn` takes. */
const TURNS_MAX = 40;

/** The interval at which a last write without an event is repeated, since a clear() of another tab can hide it. */
const REPEAT_MS = 20;

/** What has arrived in this round, and in the previous one, since other tabs may still be in it. */
let arrived = new Set();
let arrivedBefore = new Set();
/** @type {(() => void)[]} */
const waiting = [];
/** @param {string} what */
const arrive = (what) => {
    arrived.add(what);
    for (const check of waiting.splice(0)) check();
};
/** @param {string} what */
const hasArrived = (what) => arrived.has(what) || arrivedBefore.has(what);
/** @param {string} what @param {() => void} done */
const whenArrived = (what, done) =>
    void (hasArrived(what) ? done() : waiting.push(() => whenArrived(what, done)));
/** @param {string} what @returns {Promise<void> | undefined} undefined if it has arrived */
const arrival = (what) =>
    hasArrived(what) ? undefined : new Promise((resolve) => whenArrived(what, resolve));

const channel = new BroadcastChannel('litmus');
channel.onmessage = ({ data }) => arrive(data);

/**
 * The storage events of this round. The list is emptied before this tab announces the end of the round, so that no
 * other tab can have begun the next one.
 *
 * @type {{ key: string, value: string }[]}
 */
let events = [];
addEventListener('storage', ({ key, newValue }) => {
    events.push({ key: key ?? '*', value: newValue ?? 'gone' });
    // Repeated writes differ only in the number behind the dot.
    arrive(`${key}=${newValue?.split('.')[0]}`);
});

const port = new MessageChannel();
/** @returns {Promise<void>} */
const turn = () =>
    new Promise((resolve) => {
        port.port1.onmessage = () => resolve();
        port.port2.postMessage(0);
    });

/** One round in one tab. */
class Round {
    /** @type {Record<string, string>} */
    registers = {};
    /** @type {Map<string, () => void>} */
    #held = new Map();

    /** @param {string} prefix  of all its keys and names @param {(below: number) => number} random */
    constructor(prefix, random) {
        this.prefix = prefix;
        this.random = random;
    }

    /** @param {string} key */
    get(key) {
        return localStorage.getItem(this.prefix + key) ?? '-';
    }

    keys() {
        const found = Array.from({ length: localStorage.length }, (_, i) => localStorage.key(i) ?? '');
        return found.filter((key) => key.startsWith(this.prefix)).map((key) => key.slice(this.prefix.length));
    }

    async #turns() {
        for (let left = 1 + this.random(TURNS_MAX); left > 0; left--) await turn();
    }

    /** @param {string} name */
    #lock(name) {
        return new Promise((granted) => {
            void navigator.locks.request(this.prefix + name, () => {
                granted(undefined);
                return new Promise((release) => this.#held.set(name, () => release(undefined)));
            });
        });
    }

    /**
     * Performs an operation. Returns a promise only if the operation waits, so that a turn stays one turn.
     *
     * @param {string[]} words
     */
    perform([verb, a = '', b = '', c = '']) {
        const key = this.prefix + a;
        switch (verb) {
            case 'set':
                return localStorage.setItem(key, b);
            case 'remove':
                return localStorage.removeItem(key);
            case 'clear':
                return localStorage.clear();
            case 'get':
                return void (this.registers[b] = this.get(a));
            case 'keys':
                return void (this.registers[a] = this.keys().sort().join('+') || '-');
            case 'order':
                return void (this.registers[a] = this.keys().join('+') || '-');
            case 'same':
                return void (this.registers[a] = this.registers[b] === this.registers[c] ? '1' : '0');
            case 'lock':
                return this.#lock(a);
            case 'unlock':
                return this.#held.get(a)?.();
            case 'post':
                return channel.postMessage(key);
            case 'await':
                return arrival(key);
            case 'receive':
                return arrival(`${key}=${b}`);
            case 'turn':
                return this.#turns();
            default:
                throw new Error(`unknown operation "${verb}" in a litmus program`);
        }
    }

    /** @param {string[][]} operations */
    async run(operations) {
        for (const words of operations) {
            const waits = this.perform(words);
            if (waits) await waits;
        }
    }

    /** @param {Program} program @returns {Witness} */
    witness({ finally: keys, events: eventKeys }) {
        /** @param {string} key */
        const valuesReceived = (key) =>
            events.filter((event) => event.key === this.prefix + key).map(({ value }) => value);
        return {
            registers: this.registers,
            finally: keys.map((key) => this.get(key)),
            events: eventKeys.map((key) => valuesReceived(key).join(',') || '-'),
        };
    }
}

/** @typedef {{ run: string, program: Program, me: number, rounds: number, seed: number }} Job */

/** @param {Job} job @param {(other: number) => string} what */
async function awaitOthers({ program, me }, what) {
    for (const other of program.tabs.keys()) if (other !== me) await arrival(what(other));
}

/** Waits until every write of all tabs has arrived in this one. @param {Job} job @param {string} stage */
async function settle(job, stage) {
    let times = 0;
    const write = () => localStorage.setItem(`${job.run}/last/${job.me}`, `${stage}.${++times}`);
    write();
    const timer = setInterval(write, REPEAT_MS);
    await awaitOthers(job, (other) => `${job.run}/last/${other}=${stage}`);
    if (stage.endsWith('init')) events = [];
    await meet(job, stage);
    clearInterval(timer);
}

/** Waits until every tab has reached the stage. @param {Job} job @param {string} stage */
async function meet(job, stage) {
    channel.postMessage(`${job.run}/${stage}/${job.me}`);
    await awaitOthers(job, (other) => `${job.run}/${stage}/${other}`);
}

/** @param {Job} job @param {number} number @param {(below: number) => number} random */
async function round(job, number, random) {
    const { run, program, me } = job;
    const round = new Round(`${run}/${number}/`, random);
    if (program.init.length > 0) {
        if (me === 0)
            for (const [key, value] of program.init) localStorage.setItem(round.prefix + key, value);
        await settle(job, `${number}init`);
    }
    const jitter_us = random(JITTERS_US[random(JITTERS_US.length)] ?? 1);
    const until_ms = performance.now() + jitter_us / 1000;
    while (performance.now() < until_ms);
    await round.run(program.tabs[me] ?? []);
    await settle(job, `${number}done`);
    const witness = round.witness(program);
    events = [];
    await meet(job, `${number}seen`);
    if (me === 0) for (const key of round.keys()) localStorage.removeItem(round.prefix + key);
    return witness;
}

/** @param {Job} job */
async function rounds(job) {
    const random = seededRandom(job.seed);
    /** @type {Witness[]} */
    const witnesses = [];
    await settle(job, 'begin');
    for (let number = 0; number < job.rounds; number++) {
        witnesses.push(await round(job, number, random));
        arrivedBefore = arrived;
        arrived = new Set();
    }
    return witnesses;
}

/** @type {{ witnesses?: Witness[], error?: unknown }} */
let outcome = {};
/** @type {Worker | undefined} */
let idleWorker;

const commands = {
    /** @param {Job} job */
    start(job) {
        outcome = {};
        rounds(job).then(
            (witnesses) => (outcome = { witnesses }),
            (error) => (outcome = { error }),
        );
    },
    /** The witnesses of all rounds, or undefined until all have ended. */
    result() {
        if (outcome.error) throw outcome.error;
        return outcome.witnesses;
    },
};

/** The commands of the harness, which finds the process of this page by an idle Worker. */
const page = {
    startIdleWorker() {
        idleWorker = new Worker('/idle-worker.js');
        const worker = idleWorker;
        return new Promise((resolve) => (worker.onmessage = () => resolve(undefined)));
    },
    stopIdleWorker: () => idleWorker?.terminate(),
};

Object.assign(globalThis, { litmus: commands, page });
