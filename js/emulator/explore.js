/** Runs scenarios in JavaScript under seeded schedules and faults, and finds the simplest schedule that breaks one. */

import { hostTask, unyieldingMax } from './common/host-task.js';
import { Origin } from './origin.js';
import { runLengthDefault } from './rules.js';
import { describeError, oneLine } from './common/describe.js';

/** @typedef {import('./emulated-tab.js').Tab} Tab */

/**
 * What a scenario receives besides its tab.
 * @typedef {object} ScenarioContext
 * @property {number} index of the tab, from 0
 * @property {Origin} origin
 * @property {readonly Tab[]} tabs
 * @property {number} seed
 */

/** @typedef {(tab: Tab, context: ScenarioContext) => unknown} Scenario */

/**
 * What a setup receives, before the scenario is called.
 * @typedef {object} SetupContext
 * @property {Origin} origin the origin, in which the setup may open tabs of its own
 * @property {number} seed
 */

/**
 * What an invariant receives, once no event can happen.
 * @typedef {object} InvariantContext
 * @property {Origin} origin the origin, in which the invariant may open further tabs
 * @property {readonly Tab[]} tabs the tabs of the run; a killed one is `closed`
 * @property {unknown[]} results what the scenario returned in each tab; undefined if it did not end there
 * @property {number} seed
 */

/**
 * @typedef {object} Plan the arguments of explore(), checked
 * @property {any} glue
 * @property {any} peer
 * @property {Scenario | string} scenario
 * @property {((context: SetupContext) => unknown) | undefined} setup
 * @property {(context: InvariantContext) => unknown} invariant
 * @property {number} tabs
 * @property {readonly Fault[]} faults
 * @property {number} faultBudget
 * @property {number} stepsMax
 * @property {import('./origin.js').OriginOptions} origin
 * @property {AbortSignal | undefined} signal
 */

/** @typedef {{ seed: number, length?: number, schedule?: readonly number[], traced?: boolean }} Run */

/**
 * `endless`: the invariant never ended.
 *
 * @typedef {{ failure: string, endless: boolean, steps: number, hash: string, schedule: number[], faults: string[],
 *   trace: string, svg: string }} Outcome
 */

/** @typedef {import('../lab/faults.js').Fault} Fault */

/** @param {boolean} yields */
const turn = (yields) =>
    /** @type {Promise<void>} */ (new Promise((resolve) => hostTask(() => resolve(), yields)));

/** How many turns of the host may pass without a step, since a run may wait for something outside of the emulator. */
const idleTurnsMax = 20;

/** The time without an event after which a pending invariant counts as waiting for ever. */
const idle_ms = 1000;

/** One run: its tabs, their results, and its failure. */
class ScenarioRun {
    /** @type {unknown[]} */
    results = [];
    /** @type {Set<Tab>} */
    unfinished = new Set();
    failure = '';
    /** @type {string[]} */
    faults = [];
    steps = 0;
    #full = false;
    /** @type {number | undefined} */
    #chosen;

    /** @param {Plan} plan @param {Run} run */
    constructor(plan, run) {
        this.plan = plan;
        this.run = run;
        this.origin = new Origin(plan.glue, { ...plan.origin, seed: run.seed }, plan.peer);
        this.release = this.origin.hold();
        this.origin.onFault = (number) => (this.#chosen = number);
        this.origin.uncaught = (error) => this.fail(`uncaught: ${describeError(error)}`);
        this.tabs = Array.from({ length: plan.tabs }, () => this.origin.openTab());
        this.origin.rules.setTracing(run.traced ?? false);
    }

    /** @param {string} failure */
    fail(failure) {
        this.failure ||= this.#during + failure;
    }
    #during = '';

    /**
     * Runs the setup by the default schedule, until it has ended and no event can happen before time passes. None of
     * its steps is a choice of the run's schedule.
     *
     * @param {(context: SetupContext) => unknown} setup
     */
    async setUp(setup) {
        const { origin, plan, run } = this;
        this.#during = 'setup: ';
        origin.rules.calls.runDefaultSchedule();
        this.release();
        try {
            const done = invoked(() => setup({ origin, seed: run.seed }));
            await this.#settled(done.then(() => this.#comeToRest()));
            if (this.endless) this.fail('it waits for ever');
        } catch (error) {
            plan.signal?.throwIfAborted();
            this.fail(describeError(error) || 'it throws an empty text');
        }
        this.release = origin.hold();
        origin.rules.setTracing(run.traced ?? false);
        this.#during = '';
    }

    /** Lets what is under way arrive. The trace leaves that out, since no tab of the scenario has begun. */
    #comeToRest() {
        this.origin.rules.setTracing(false);
        return this.origin.settled();
    }

    /** Begins the scenario in each tab, under the schedule of the run. */
    begin() {
        const { origin, tabs, plan, run } = this;
        const { calls } = origin.rules;
        if (run.schedule) calls.runBy([...run.schedule]);
        else calls.runBySeed(run.seed, plan.faultBudget, run.length ?? runLengthDefault, true);
        calls.offerFaults(plan.faults.length * plan.tabs);
        for (const [index, tab] of tabs.entries()) {
            this.unfinished.add(tab);
            tab.context.queueTask(() => {
                const { scenario } = plan;
                const done =
                    typeof scenario === 'string'
                        ? tab.run(scenario)
                        : invoked(() => scenario(tab, { index, origin, tabs, seed: run.seed }));
                done.then(
                    (result) => (this.results[index] = result),
                    (error) => tab.closed || this.fail(`tab ${tab.number}: ${describeError(error)}`),
                ).finally(() => this.unfinished.delete(tab));
            });
        }
    }

    /** Runs until no event can happen, except for timers of tabs in which the scenario has ended. */
    async toRest() {
        for (let idle = 0; !this.failure && idle <= idleTurnsMax;) {
            this.plan.signal?.throwIfAborted();
            if (this.steps > this.plan.stepsMax)
                return this.fail(`it does not come to rest within ${this.plan.stepsMax} steps`);
            const open = this.#open();
            if (this.origin.step(open)) {
                ++this.steps;
                idle = 0;
            } else if (this.#wakeAll()) {
                idle = 0;
            } else if (!open && !this.origin.working) {
                return undefined;
            } else if (!this.origin.working) {
                ++idle;
            }
            const { delivery } = this.origin;
            await delivery;
            await turn(
                idle > 0 || Boolean(delivery) || this.origin.working || this.steps % unyieldingMax === 0,
            );
            if (this.#chosen !== undefined) await this.#fault();
        }
        return undefined;
    }

    #open() {
        return [...this.unfinished].some((tab) => !tab.closed);
    }

    /** Resumes every stopped tab at the end of a run. */
    #wakeAll() {
        const stopped = this.tabs.filter((tab) => !tab.closed && (tab.frozen || tab.cached || tab.throttled));
        for (const tab of stopped) {
            tab.thaw();
            tab.show();
        }
        return stopped.length > 0;
    }

    async #fault() {
        const { faults: possible, tabs } = this.plan;
        const number = /** @type {number} */ (this.#chosen);
        this.#chosen = undefined;
        const fault = /** @type {Fault} */ (possible[Math.floor(number / tabs)]);
        const tab = /** @type {Tab} */ (this.tabs[number % tabs]);
        this.faults.push(fault);
        if (this.faults.length >= this.plan.faultBudget) this.origin.rules.calls.offerFaults(0);
        await this.#apply(fault, tab);
    }

    /** @param {Fault} fault @param {Tab} tab */
    async #apply(fault, tab) {
        const { origin } = this;
        switch (fault) {
            case 'kill':
                return tab.kill();
            case 'freeze':
                return tab.frozen ? tab.thaw() : tab.freeze();
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
                return origin.setQuota(this.#full ? 0 : this.plan.origin.quota_bytes);
            case 'clear-storage':
                return origin.clearSiteData();
            case 'corrupt':
                return this.#corrupt(tab);
            default:
                for (const one of this.tabs) one.kill();
        }
    }

    /** @param {Tab} tab */
    #corrupt(tab) {
        if (tab.closed) return;
        const localStorage = tab.context.original('localStorage');
        const { length } = localStorage;
        if (length > 0) this.origin.corrupt(localStorage.key(this.origin.random.below(length)));
    }

    async judge() {
        const stuck = [...this.unfinished].filter((tab) => !tab.closed).map((tab) => `tab ${tab.number}`);
        if (stuck.length > 0)
            this.fail(`${stuck.join(' and ')} ${stuck.length > 1 ? 'wait' : 'waits'} for ever`);
        if (this.failure) return;
        const { origin, tabs, results, run, plan } = this;
        this.origin.rules.calls.runDefaultSchedule();
        this.origin.rules.setTracing(false);
        this.release();
        try {
            const verdict = await this.#settled(
                invoked(() => plan.invariant({ origin, tabs, results, seed: run.seed })),
            );
            if (verdict === false) this.fail('the invariant does not hold');
            if (typeof verdict === 'string' && verdict !== '') this.fail(verdict);
        } catch (error) {
            this.plan.signal?.throwIfAborted();
            this.fail(describeError(error) || 'the invariant throws an empty text');
        }
    }

    endless = false;

    /**
     * The result of the invariant. Fails if it waits for ever: because no event happens, or because events never end.
     *
     * @param {Promise<unknown>} verdict
     */
    async #settled(verdict) {
        const { origin, plan } = this;
        const start = origin.happened;
        /** @type {any} */
        let timer;
        let abort = () => {};
        const never = new Promise((resolve, reject) => {
            const check = (/** @type {number} */ before) => {
                const { happened } = origin;
                this.endless = happened === before || happened - start > plan.stepsMax;
                if (this.endless) resolve('the invariant waits for ever');
                else timer = setTimeout(check, idle_ms, happened);
            };
            timer = setTimeout(check, idle_ms, start);
            abort = () => reject(plan.signal?.reason);
        });
        plan.signal?.addEventListener('abort', abort);
        try {
            return await Promise.race([verdict, never]);
        } finally {
            clearTimeout(timer);
            plan.signal?.removeEventListener('abort', abort);
        }
    }

    /** @returns {Outcome} */
    end() {
        const { origin, failure, steps, faults: happened, run, taken } = this;
        const { rules, hash } = origin;
        const traced = run.traced ?? false;
        const title = failure || 'nothing was found';
        const outcome = {
            failure,
            endless: this.endless,
            steps,
            hash: `${this.hash ?? hash}`,
            schedule: taken,
            faults: happened,
            trace: traced ? rules.calls.traceText(oneLine(failure)) : '',
            svg: traced ? rules.calls.sequenceDiagram(failure, title) : '',
        };
        origin.uncaught = () => {};
        origin.close();
        rules.delete();
        return outcome;
    }

    /** Keeps the choices of the run up to the last one that departs from the default schedule. */
    rest() {
        const taken = this.origin.rules.calls.taken();
        while (taken.at(-1) === 0) taken.pop();
        this.taken = taken;
        this.hash = this.origin.hash;
    }
    /** @type {number[]} */
    taken = [];
    /** @type {string | undefined} */
    hash;
}

/** @param {() => unknown} call @returns {Promise<unknown>} */
const invoked = (call) => new Promise((resolve) => resolve(call()));

/** @param {Plan} plan @param {Run} run @returns {Promise<Outcome>} */
export async function runOnce(plan, run) {
    const one = new ScenarioRun(plan, run);
    try {
        if (plan.setup) await one.setUp(plan.setup);
        if (!one.failure) one.begin();
        await one.toRest();
        one.rest();
        await one.judge();
        return one.end();
    } catch (reason) {
        one.end(); // the run was aborted
        throw reason;
    }
}

/**
 * Simplifies a failing schedule by delta debugging (Zeller and Hildebrandt 2002), as the laboratory's shrink.hpp
 * does: chunks of choices, and then single choices, are replaced by the default one or removed, as long as the run
 * still fails.
 *
 * @param {Plan} plan
 * @param {number} seed
 * @param {Outcome} failing
 * @param {number} runsMax
 * @returns {Promise<Outcome>}
 */
export async function shrink(plan, seed, failing, runsMax) {
    const shrinking = { best: failing, runsLeft: runsMax };
    if (!(await runOnce(plan, { seed, schedule: failing.schedule })).failure) return failing;
    const better = async (/** @type {number[]} */ schedule) => {
        if (shrinking.runsLeft-- <= 0) return false;
        const outcome = await runOnce(plan, { seed, schedule });
        if (!outcome.failure || weight(outcome.schedule) >= weight(shrinking.best.schedule)) return false;
        shrinking.best = outcome;
        return true;
    };
    for (
        let size = failing.schedule.length;
        size >= 1 && shrinking.runsLeft > 0;
        size = Math.floor(size / 2)
    ) {
        for (let at = 0; at < shrinking.best.schedule.length && shrinking.runsLeft > 0;) {
            const { schedule } = shrinking.best;
            const defaults = [
                ...schedule.slice(0, at),
                ...schedule.slice(at, at + size).fill(0),
                ...schedule.slice(at + size),
            ];
            const shorter = [...schedule.slice(0, at), ...schedule.slice(at + size)];
            const changes = schedule.slice(at, at + size).some((index) => index > 0);
            if (!((changes && (await better(defaults))) || (await better(shorter)))) at += size;
        }
    }
    return shrinking.best;
}

/**
 * Orders schedules by how complex they are: first by their departures from the default schedule, then by their length.
 *
 * @param {readonly number[]} schedule
 */
const weight = (schedule) => schedule.filter((index) => index > 0).length * 1e6 + schedule.length;
