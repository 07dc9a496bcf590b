/** Runs scenarios in JavaScript under seeded schedules and faults, and finds the simplest schedule that breaks one. */

import { hostTask, unyieldingMax } from './common/host-task.js';
import { hostTimeout } from './common/host-timers.js';
import { awaitsHost } from './host/host-work.js';
import { FaultEffects } from './fault-effects.js';
import { Origin } from './origin.js';
import { drawnFormats } from './record-format.js';
import { runLengthDefault } from './rules.js';
import { SearchedScenario } from './searched-scenario.js';
import { describeError, oneLine } from './common/describe.js';
import { hostWaitMax_ms } from './verdict/host-waits.js';
import { awaitQuiescence } from './database/quiescence.js';
import { HostWatch, seesHost } from './verdict/host-watch.web.js';
import { Rejections, settle } from './verdict/rejections.js';

/** @typedef {import('./emulated-tab.js').Tab} Tab */
/** @typedef {import('./scenario.js').SetupContext} SetupContext */
/** @typedef {import('./plan.js').Plan} Plan */

/**
 * One run: `search`: the search that chooses its schedule.
 *
 * @typedef {{ seed: number, length?: number, schedule?: readonly number[], traced?: boolean,
 *   search?: import('./emulator.js').ScheduleSearch }} Run
 */

/** @typedef {import('./verdict/failure.js').FailureKind} FailureKind */

/**
 * `waitsFor`: what an inconclusive run last waited for; else empty. `endless`: the invariant never ended.
 *
 * @typedef {{ failure: string, kind: FailureKind | undefined, waitsFor: string, endless: boolean, steps: number, hash: string, schedule: number[], faults: string[],
 *   trace: string, story: string, svg: string } & import('./searched-scenario.js').Found} Outcome
 */

/** @typedef {import('../lab/faults.js').EmulatedFault} Fault */

/** @param {boolean} yields */
const turn = (yields) =>
    /** @type {Promise<void>} */ (new Promise((resolve) => hostTask(() => resolve(), yields)));

/** How many turns of the host may pass without a step: a run may wait for work that the emulator does not see. */
const idleTurnsMax = 20;

/** The number of events after which a setup counts as endless. Its steps count for no bound of the exploration. */
const setupEventsMax = 1_000_000;

/** The time without an event after which a pending invariant counts as waiting for ever. */
const idle_ms = 1000;

/**
 * The virtual time after which a tab that a fault has stopped is resumed, in milliseconds. Other tabs may wait for it
 * for as long, while their timers go on.
 */
const stoppedMax_ms = 300_000;

/** One run: its tabs, their results, and its failure. */
class ScenarioRun {
    /** @type {unknown[]} */
    results = [];
    /** @type {Set<Tab>} */
    unfinished = new Set();
    failure = '';
    /** @type {FailureKind | undefined} */
    kind;
    /** What an inconclusive run last waited for. */
    waitsFor = '';
    /** The work that the host did not complete in time. The run goes on, but this may be the cause of a failure. */
    #missed = '';
    /** @type {string[]} */
    faults = [];
    steps = 0;
    #effects;
    /** @type {number | undefined} */
    #chosen;

    /** @param {Plan} plan @param {Run} run @param {boolean} watched whether the host's work for it is watched */
    constructor(plan, run, watched) {
        this.plan = plan;
        this.run = run;
        this.origin = new Origin(plan.glue, { ...plan.origin, seed: run.seed }, plan.fakeIndexedDB);
        this.rejections = new Rejections(!watched, this.origin);
        if (watched) this.watch = new HostWatch(this.rejections);
        this.#effects = new FaultEffects(this.origin, plan.origin.quota_bytes);
        this.searched = new SearchedScenario(this.origin, run.search !== undefined);
        this.release = this.origin.hold();
        this.origin.onLate = (what) => this.standsStill(`${what}, which the host does not complete`);
        this.origin.onFault = (number) => (this.#chosen = number);
        this.origin.uncaught = (error) => this.fail(`uncaught: ${describeError(error)}`, 'uncaught');
        this.origin.rules.setTracing(run.traced ?? false);
        this.tabs = drawnFormats(plan, run.seed).map((recordFormat) => this.origin.openTab({ recordFormat }));
    }

    /** Notes the first failure of the run. @param {string} failure @param {FailureKind} kind */
    fail(failure, kind) {
        if (this.ended) return;
        if (this.#missed) return this.standsStill(this.#missed);
        this.failure = this.#during + failure;
        this.kind = kind;
    }
    #during = '';

    /** Ends the run without a verdict. @param {string} what what it waits for */
    standsStill(what) {
        if (!this.ended) this.waitsFor = this.#during + what;
    }

    /** Whether the outcome is known. */
    get ended() {
        return this.failure !== '' || this.waitsFor !== '';
    }

    /**
     * Runs the setup by the default schedule, until it has ended and no event can happen before time passes. None of
     * its steps is a choice of the run's schedule.
     *
     * @param {(context: SetupContext) => unknown} setup
     */
    async setUp(setup) {
        const { origin, plan, run } = this;
        this.#during = 'setup: ';
        Rejections.step(this.rejections);
        origin.rules.calls.runDefaultSchedule();
        this.release();
        try {
            const done = invoked(() => setup(this.searched.noticing({ origin, seed: run.seed })));
            await this.#settled(
                done.then(() => this.#comeToRest()),
                'the setup',
                setupEventsMax,
            );
            if (this.endless) this.fail('it waits for ever', 'setup');
        } catch (error) {
            plan.signal?.throwIfAborted();
            this.fail(describeError(error) || 'it throws an empty text', 'setup');
        }
        this.release = origin.hold();
        await this.look();
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
        calls.setTimerWindow(plan.timerWindow_ms);
        if (run.search) origin.rules.runBySearch(run.search);
        else if (run.schedule) calls.runBy([...run.schedule]);
        else calls.runBySeed(run.seed, plan.faultBudget, run.length ?? runLengthDefault, true);
        calls.offerFaults(plan.faults.length * plan.tabs);
        for (const [index, tab] of tabs.entries()) {
            const given = this.searched.contextOf({ index, origin, tabs, seed: run.seed });
            this.unfinished.add(tab);
            tab.context.queueTask(() => {
                const { scenario } = plan;
                const done =
                    typeof scenario === 'string' ? tab.run(scenario) : invoked(() => scenario(tab, given));
                if (run.traced) done.catch((error) => tab.closed || tab.context.traceThrow(error));
                done.then(
                    (result) => (this.results[index] = result),
                    (error) =>
                        tab.closed || this.fail(`tab ${tab.number}: ${describeError(error)}`, 'scenario'),
                ).finally(() => {
                    this.unfinished.delete(tab);
                    this.origin.rules.noteMayWait();
                });
            });
        }
    }

    /** Runs until no event can happen, except for timers of tabs in which the scenario has ended. */
    async toRest() {
        for (let idle = 0; !this.ended;) {
            this.plan.signal?.throwIfAborted();
            if (idle > idleTurnsMax && !(await this.#mayGoOn())) return undefined;
            // The schedule itself waits for what it orders.
            if (this.watch && !awaitsHost(this.origin)) await this.#awaitHost(this.watch);
            if (this.steps > this.plan.stepsMax)
                return this.fail(`it does not come to rest within ${this.plan.stepsMax} steps`, 'endless');
            const { database, working } = this.origin;
            if (database && (working || database.steps !== database.quiescentAt))
                await awaitQuiescence(database);
            const open = this.#open();
            Rejections.step(this.rejections);
            if (this.origin.step(open)) {
                ++this.steps;
                idle = 0;
                this.#goesOn();
                this.#resumeInTime();
            } else if (this.searched.givenUp) {
                return undefined;
            } else if (this.#wakeAll()) {
                idle = 0;
            } else if (!open && !this.origin.working) {
                return this.#goesOn();
            } else if (!this.origin.working) {
                ++idle;
            }
            const { delivery } = this.origin;
            if (delivery) await delivery;
            await turn(
                idle > 0 ||
                    Boolean(delivery) ||
                    this.origin.working ||
                    this.watch !== undefined ||
                    this.steps % unyieldingMax === 0,
            );
            if (this.#chosen !== undefined) await this.#fault();
        }
        return undefined;
    }

    #open() {
        return [...this.unfinished].some((tab) => !tab.closed);
    }

    /** The tabs in which the scenario has not ended. */
    get #stuck() {
        return [...this.unfinished].filter((tab) => !tab.closed);
    }

    /**
     * Waits at a standstill for work of the host that no watch sees.
     *
     * @returns {Promise<boolean>} whether the run may go on
     */
    async #mayGoOn() {
        const { watch, plan } = this;
        if (!watch) return false;
        const { pending } = watch;
        if (this.#waited_ms < this.#waitMax_ms(watch)) {
            this.#waited_ms += await plan.hostWaits.pause(watch);
            return true;
        }
        plan.hostWaits.spend(pending);
        this.#missed =
            pending ??
            (this.#missed || (seesHost || this.#certain ? '' : 'something outside of the emulator'));
        return false;
    }

    /** How long the run may stand still, in milliseconds of real time. @param {HostWatch} watch */
    #waitMax_ms({ pending, pending_ms }) {
        const { left_ms, unseen_ms } = this.plan.hostWaits;
        if (pending !== undefined) return pending_ms > left_ms ? 0 : left_ms;
        if (seesHost) return unseen_ms;
        return this.#certain ? 0 : left_ms;
    }

    /** Whether no work of the host can end a standstill, although no watch sees the host. */
    get #certain() {
        const isText = typeof this.plan.scenario === 'string';
        return isText || this.#stuck.every(({ context }) => context.locks.waiting);
    }
    /** How long the run has stood still, in milliseconds of real time. */
    #waited_ms = 0;

    /** Notes that the run goes on, because of work of the host if it stood still. */
    #goesOn() {
        if (this.#waited_ms > 0) this.plan.hostWaits.noteHosted();
        this.#waited_ms = 0;
    }

    /** @param {HostWatch} watch */
    async #awaitHost(watch) {
        const { hostWaits, signal } = this.plan;
        if (this.#missed || watch.pending === undefined || !this.#open()) return;
        this.#missed = await hostWaits.await(watch, signal);
    }

    /** When the stopped tabs are resumed, on the clock of the origin. */
    #resume_ms = Infinity;

    #resumeInTime() {
        if (this.#resume_ms < Infinity && this.origin.clock.read() >= this.#resume_ms) this.#wakeAll();
    }

    /** Resumes every stopped tab, and answers every database: at the end of a run, or after {@link stoppedMax_ms}. */
    #wakeAll() {
        this.#resume_ms = Infinity;
        const stopped = this.tabs.filter((tab) => !tab.closed && (tab.stopped || tab.throttled));
        const resumes = this.#effects.answerAll() || stopped.length > 0;
        if (resumes) this.origin.rules.noteEverything();
        for (const tab of stopped) {
            tab.wake();
            tab.thaw();
            tab.show();
        }
        return resumes;
    }

    async #fault() {
        const { faults: possible, tabs } = this.plan;
        const number = /** @type {number} */ (this.#chosen);
        this.#chosen = undefined;
        const fault = /** @type {Fault} */ (possible[Math.floor(number / tabs)]);
        const tab = /** @type {Tab} */ (this.tabs[number % tabs]);
        this.faults.push(fault);
        this.#resume_ms = this.origin.clock.read() + stoppedMax_ms;
        if (this.faults.length >= this.plan.faultBudget) this.origin.rules.calls.offerFaults(0);
        await this.#effects.apply(fault, tab);
    }

    async judge() {
        await this.look();
        const stuck = this.#stuck.map((tab) => `tab ${tab.number}`);
        const waits = `${stuck.join(' and ')} ${stuck.length > 1 ? 'wait' : 'waits'}`;
        if (stuck.length > 0 && this.#missed) this.standsStill(`${waits} for ${this.#missed}`);
        if (stuck.length > 0) {
            this.origin.rules.calls.traceWaitingRequests();
            this.fail(`${waits} for ever`, 'waits');
        }
        if (this.ended) return;
        const { origin, tabs, results, run, plan } = this;
        this.origin.rules.calls.runDefaultSchedule();
        this.origin.rules.setTracing(false);
        this.release();
        try {
            const verdict = await this.#settled(
                invoked(() =>
                    plan.invariant(this.searched.noticing({ origin, tabs, results, seed: run.seed })),
                ),
            );
            const kind = this.endless ? 'invariant-waits' : 'invariant';
            if (verdict === false) this.fail('the invariant does not hold', kind);
            if (typeof verdict === 'string' && verdict !== '') this.fail(verdict, kind);
        } catch (error) {
            this.plan.signal?.throwIfAborted();
            this.fail(describeError(error) || 'the invariant throws an empty text', 'invariant');
        }
        await this.look();
    }

    /** Looks for rejections that nothing has handled. The host reports them before its next task. */
    async look() {
        for (let at = 0; at < (seesHost ? 1 : 2); ++at) await turn(true);
        const { failure } = this.rejections;
        if (failure) this.fail(failure, 'rejection');
    }

    endless = false;

    /**
     * The result of the invariant or of the setup. Fails if it waits for ever: because no event happens, or because events never end.
     *
     * @param {Promise<unknown>} verdict
     * @param {string} whose
     */
    async #settled(verdict, whose = 'the invariant', eventsMax = this.plan.stepsMax) {
        const { origin, plan, watch } = this;
        const start = origin.happened;
        let cancel = () => {};
        let abort = () => {};
        const never = new Promise((resolve, reject) => {
            const check = (/** @type {number} */ before, /** @type {number} */ left_ms) => {
                const { happened } = origin;
                const idle = happened === before;
                const pending = idle ? watch?.pending : undefined;
                if (pending !== undefined) plan.hostWaits.noteHosted();
                if (pending && left_ms > 0) return later(happened, left_ms - idle_ms);
                if (pending) this.standsStill(`${whose} waits for ${pending}`);
                this.endless = idle || happened - start > eventsMax;
                if (this.endless) resolve(`${whose} waits for ever`);
                else later(happened, left_ms);
            };
            const later = (/** @type {number} */ before, /** @type {number} */ left_ms) => {
                const begin = () => (cancel = hostTimeout(() => check(before, left_ms), idle_ms));
                if (watch) watch.outside(begin);
                else begin();
            };
            later(start, hostWaitMax_ms);
            abort = () => reject(plan.signal?.reason);
        });
        plan.signal?.addEventListener('abort', abort);
        try {
            return await Promise.race([verdict, never]);
        } finally {
            cancel();
            plan.signal?.removeEventListener('abort', abort);
        }
    }

    /** The last sentence of the story of an inconclusive run. */
    get #inconclusiveLine() {
        return this.waitsFor && !this.failure ? `the run is inconclusive: ${oneLine(this.waitsFor)}\n` : '';
    }

    /** Ends the run. @returns {Outcome} */
    end() {
        const { origin, failure, kind, steps, faults: happened, run, taken } = this;
        const { rules, hash } = origin;
        const traced = run.traced ?? false;
        const found = failure || this.waitsFor;
        const title = found || 'nothing was found';
        const outcome = {
            failure,
            kind,
            waitsFor: this.waitsFor,
            endless: this.endless,
            steps,
            hash: `${this.hash ?? hash}`,
            schedule: taken,
            faults: happened,
            trace: traced ? rules.calls.traceText(oneLine(found)) : '',
            story: traced ? rules.calls.storyText(oneLine(failure)) + this.#inconclusiveLine : '',
            svg: traced ? rules.calls.sequenceDiagram(found, title) : '',
            ...this.searched.found,
        };
        origin.uncaught = () => {};
        this.rejections.end(this.watch?.pending !== undefined);
        origin.close();
        rules.delete();
        return outcome;
    }

    /** Keeps the choices of the run up to the last one that departs from the default schedule. */
    rest() {
        const taken = this.origin.rules.calls.taken();
        while (taken.at(-1) === 0) taken.pop();
        this.taken = taken;
        this.origin.rules.noteListeners(this.origin.contexts.values());
        this.origin.rules.endSearch();
        this.hash = this.origin.hash;
    }
    /** @type {number[]} */
    taken = [];
    /** @type {string | undefined} */
    hash;
}

/** @param {() => unknown} call @returns {Promise<unknown>} */
const invoked = (call) => new Promise((resolve) => resolve(call()));

/**
 * @param {Plan} plan
 * @param {Run} run
 * @param {boolean} watched
 * @returns {Promise<{ outcome: Outcome, rejections: Rejections }>}
 */
async function runThrough(plan, run, watched) {
    const one = new ScenarioRun(plan, run, watched);
    const through = async () => {
        if (plan.setup) await one.setUp(plan.setup);
        if (!one.ended) one.begin();
        await one.toRest();
        one.rest();
        if (!one.searched.givenUp) await one.judge();
    };
    try {
        await (one.watch ? one.watch.during(through) : through());
        if (watched && one.rejections.seen.size > 0) plan.hostWaits.watches = true;
        return { outcome: one.end(), rejections: one.rejections };
    } catch (reason) {
        await one.look();
        one.end(); // the run was aborted
        throw reason;
    }
}

/**
 * Makes a run. If the host reports a rejection meanwhile, it repeats the run with a watch, which knows whose the
 * rejection is.
 *
 * @param {Plan} plan
 * @param {Run} run
 * @param {boolean} [watched]
 * @returns {Promise<Outcome>}
 */
export async function runOnce(plan, run, watched = plan.hostWaits.watches) {
    const { outcome, rejections } = await runThrough(plan, run, watched);
    const { suspicions } = rejections;
    if (suspicions.length === 0) return outcome;
    const again = await runThrough(plan, run, true);
    settle(suspicions, again.rejections);
    return again.outcome;
}

/**
 * Makes a run, and repeats it with a watch if it fails: a failure does not count if the host's work for the run was
 * not complete.
 *
 * @param {Plan} plan
 * @param {Run} run
 * @param {boolean} [watched] whether the first run is watched already
 * @returns {Promise<Outcome>}
 */
export async function decide(plan, run, watched = plan.hostWaits.watches) {
    const outcome = await runOnce(plan, run, watched);
    if (!outcome.failure || watched || plan.hostWaits.watches) return outcome;
    const again = await runOnce(plan, run, true);
    return plan.hostWaits.watches ? again : outcome;
}
