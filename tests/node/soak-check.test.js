/** The checks of the soak test find planted violations. Otherwise a soak test that finds none would show nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { check } from '../soak/check.js';
import { BOUNDS_MS, BUSY_MACHINE_MS } from '../soak/checks/waits.js';
import { EventLog } from '../soak/event-log.js';
import { LOOP_KINDS } from '../soak/page/operations.js';
import { schedule } from '../soak/schedule.js';

/** @typedef {import('../soak/event-log.js').Event} Event */

/** The last event of every log. @type {Event} */
const SIZES = { type: 'sizes', rows: { locks: 3 }, keys: 2, locks: 4 };

/** Events that do not say when they happened happened at the beginning. @param {Event[]} events @returns {string[]} */
const violationsOf = (...events) =>
    check([...events, SIZES].map((event) => ({ time_ms: 0, ...event }))).violations;

/**
 * An operation, with the events between its beginning and its end. The page is the part of `op` before the slash.
 *
 * @param {string} op
 * @param {string} kind
 * @param {Event[]} between
 * @param {object} [result]
 * @returns {Event[]}
 */
const operation = (op, kind, between, result = {}) => {
    const [page] = op.split('/');
    const events = [
        { type: 'begin', kind },
        ...between,
        { type: 'end', kind, ok: true, waited_ms: 1, ...result },
    ];
    return events.map((event) => ({ page, op, ...event }));
};

/** @param {string} type @param {number | null} token @param {object} [more] @returns {Event} */
const hold = (type, token, more = {}) => ({ type, name: 'lock-0', token, ...more });

/** An operation that got a lock, and has not released it. @param {string} op @param {number | null} token @param {object} [more] */
const holding = (op, token, more) => operation(op, 'lock', [hold('hold', token, more)]).slice(0, 2);

/** @param {string} op @param {number | null} token @param {object} [more] */
const releasing = (op, token, more) =>
    operation(op, 'lock', [hold('hold', token, more), hold('release', token)]).slice(2);

/** @param {string} type @param {string} page @returns {Event} */
const happens = (type, page) => ({ type, page });

test('a log without operations has no violation', () => {
    assert.deepEqual(violationsOf(), []);
});

test('a log that ended before its queue was read is a violation', () => {
    assert.match(check([]).violations.join(), /ended before/);
});

const overlap = [...holding('a/1', 1), ...holding('b/1', 2), ...releasing('a/1', 1), ...releasing('b/1', 2)];

test('two holds that overlap are a violation, unless the first holder had stopped or soon reports the loss', () => {
    assert.match(violationsOf(...overlap).join(), /lock-0 was held by b\/1 and at the same time by a\/1/);
    const [first, second, ...rest] = overlap;
    const stopped = /** @type {Event[]} */ ([first, second, happens('disturbed', 'a'), ...rest]);
    assert.deepEqual(violationsOf(...stopped), []);
    const lost = { op: 'a/1', page: 'a', type: 'lost', name: 'lock-0' };
    assert.deepEqual(violationsOf(...overlap, lost), []);
    assert.match(violationsOf(...overlap, { ...lost, time_ms: 20_000 }).join(), /at the same time/);
    const apart = [
        ...holding('a/1', 1),
        ...releasing('a/1', 1),
        ...holding('b/1', 2),
        ...releasing('b/1', 2),
    ];
    assert.deepEqual(violationsOf(...apart), []);
});

test('readers may hold a lock together, but not with a writer, and a semaphore has its permits', () => {
    const shared = { shared: true };
    const readers = (/** @type {object} */ more) => [
        ...holding('a/1', null, shared),
        ...holding('b/1', more === shared ? null : 7, more),
        ...releasing('a/1', null),
        ...releasing('b/1', null),
    ];
    assert.deepEqual(violationsOf(...readers(shared)), []);
    assert.match(violationsOf(...readers({})).join(), /at the same time/);
    const permits = (/** @type {number} */ count) => [
        ...holding('a/1', 1, { permits: count }),
        ...holding('b/1', 1, { permits: count }),
        ...holding('c/1', 1, { permits: count }),
        ...['a', 'b', 'c'].flatMap((page) => releasing(`${page}/1`, 1)),
    ];
    assert.deepEqual(violationsOf(...permits(3)), []);
    assert.match(violationsOf(...permits(2)).join(), /held by c\/1 and at the same time by a\/1,b\/1/);
});

test('a token that does not rise is a violation', () => {
    const grants = (/** @type {number} */ second) => [
        ...holding('a/1', 5),
        ...releasing('a/1', 5),
        ...holding('b/1', second),
        ...releasing('b/1', second),
    ];
    assert.deepEqual(violationsOf(...grants(6)), []);
    assert.match(violationsOf(...grants(5)).join(), /b\/1 got the token 5 after 5/);
});

/** @param {[number, number, number][]} written  number, token, and the token before @param {object} stored */
const commits = (written, stored) => [
    ...written.flatMap(([number, token, before], index) =>
        operation(`a/${index}`, 'lock', [
            { type: 'commit-begin', name: 'lock-0' },
            { type: 'commit-end', name: 'lock-0', number, token, before },
        ]),
    ),
    { type: 'stored', name: 'lock-0', value: stored },
];

test('commits under a lock are a chain: a lost, repeated or late commit is a violation', () => {
    const good = /** @type {[number, number, number][]} */ ([
        [1, 3, 0],
        [2, 4, 3],
    ]);
    assert.deepEqual(violationsOf(...commits(good, { number: 2, token: 4 })), []);
    const found = (/** @type {object} */ stored) => violationsOf(...commits(good, stored)).join();
    assert.match(found({ number: 1, token: 4 }), /2 commits up to 2, but 1 is stored/);
    assert.match(found({ number: 3, token: 4 }), /3 is stored after 2 attempts/);
    assert.match(found({ number: 2, token: 3 }), /the token 3 is stored after 4/);
    const late = commits([...good, [3, 3, 4]], { number: 3, token: 4 });
    assert.match(violationsOf(...late).join(), /a\/2 wrote 3 under the token 3, after 4/);
    const twice = commits([...good, [2, 4, 4]], { number: 3, token: 4 });
    assert.match(violationsOf(...twice).join(), /two commits wrote the same number/);
});

test('an answer of a leader that was lost or committed twice is a violation', () => {
    const call = operation('a/1', 'callLeader', []);
    const calls = (/** @type {number} */ value) =>
        violationsOf(...call, { type: 'stored', name: 'calls', value });
    assert.deepEqual(calls(1), []);
    assert.match(calls(0).join(), /leaders committed 0 answers/);
    assert.match(calls(2).join(), /leaders committed 2 answers, of 1 calls/);
});

test('a counter that lost an acknowledged add, or counted one twice, is a violation', () => {
    const read = (/** @type {number} */ value) => [
        { type: 'attempt', name: 'c', plus: 5, minus: 0 },
        { type: 'acknowledge', name: 'c', plus: 5, minus: 0 },
        { type: 'read-begin', name: 'c', op: 'a/2' },
        { type: 'read-end', name: 'c', op: 'a/2', value },
    ];
    assert.deepEqual(violationsOf(...read(5)), []);
    assert.match(violationsOf(...read(4)).join(), /gave 4, which is not from 5 to 5/);
    assert.match(violationsOf(...read(10)).join(), /gave 10/);
});

/** @param {string} op @param {string} value */
const once = (op, value) => operation(op, 'once', [{ type: 'once-begin', key: 'k' }], { key: 'k', value });
const forget = operation('f/1', 'forget', [{ type: 'forget-begin', key: 'k' }], { key: 'k' });

test('a key of once() has one value, until it is forgotten', () => {
    assert.deepEqual(violationsOf(...once('a/1', 'v'), ...once('b/1', 'v')), []);
    assert.match(violationsOf(...once('a/1', 'v'), ...once('b/1', 'w')).join(), /the values v and w/);
    assert.deepEqual(violationsOf(...once('a/1', 'v'), ...forget, ...once('b/1', 'w')), []);
    const again = [...once('a/1', 'v'), ...forget, ...once('b/1', 'v')];
    assert.match(violationsOf(...again).join(), /v was returned after it had been forgotten/);
});

/** @param {string} op @param {number} first @param {number} last */
const numbers = (op, first, last) => operation(op, 'sequence', [], { name: 'sequence', first, last });

test('a number that is given twice is a violation', () => {
    assert.deepEqual(violationsOf(...numbers('a/1', 4, 9), ...numbers('b/1', 1, 3)), []);
    assert.match(violationsOf(...numbers('a/1', 1, 4), ...numbers('b/1', 4, 4)).join(), /b\/1 got 4/);
});

test('a budget that is overspent is a violation', () => {
    const take = (/** @type {string} */ op, /** @type {number} */ n) => ({ type: 'taken', name: 'b', op, n });
    const give = { type: 'give-begin', name: 'b', op: 'a/1', n: 20 };
    assert.deepEqual(violationsOf(take('a/1', 20), take('b/1', 10)), []);
    assert.deepEqual(violationsOf(take('a/1', 20), give, take('b/1', 25)), []);
    assert.match(violationsOf(take('a/1', 20), take('b/1', 11)).join(), /31 of 30 were taken at once/);
    const drained = { type: 'drained', name: 'b', n: 11 };
    assert.match(violationsOf(take('a/1', 20), drained).join(), /31 of 30 were taken at once/);
});

test('a rate limit that grants too much is a violation', () => {
    const grants = (/** @type {number} */ span_ms) =>
        Array.from({ length: 16 }, (_, index) =>
            operation(`a/${index}`, 'rateLimit', [], { granted_ms: 5000 + (index * span_ms) / 15 }),
        ).flat();
    assert.deepEqual(violationsOf(...grants(1000)), []);
    assert.match(violationsOf(...grants(900)).join(), /granted 16 calls in 900 ms/);
});

const enqueued = operation('a/1', 'enqueue', [], { job: 'j', joined: false });
/** @param {string} mark */
const marked = (mark) => ({ type: 'mark', job: 'j', mark });

test('a job that is lost or settled twice is a violation', () => {
    assert.match(violationsOf(...enqueued).join(), /the job j was lost/);
    assert.deepEqual(violationsOf(...enqueued, marked('m'), marked('m')), []);
    assert.deepEqual(violationsOf(...enqueued, { type: 'dead', job: 'j' }), []);
    assert.match(violationsOf(...enqueued, marked('m'), marked('n')).join(), /settled 2 times/);
    assert.match(
        violationsOf(...enqueued, marked('m'), { type: 'dead', job: 'j' }).join(),
        /settled 2 times/,
    );
    const result = { type: 'result', job: 'i', ok: true };
    assert.match(violationsOf(result).join(), /the job i had a result, but no mark/);
    const wrong = { ...result, ok: false };
    assert.match(violationsOf(wrong).join(), /the job i had the result of another one/);
    assert.deepEqual(violationsOf({ ...wrong, code: 'lost-worker' }), []);
});

test('a job that may begin once and begins twice is a violation', () => {
    const run = { type: 'run', job: 'j', once: true };
    assert.deepEqual(violationsOf(run, { type: 'dead', job: 'j' }), []);
    assert.match(violationsOf(run, run, { type: 'dead', job: 'j' }).join(), /began 2 times/);
});

test('an operation that never ends is a violation, unless its page is gone', () => {
    const [begin] = operation('a/1', 'lock', []);
    const begun = /** @type {Event} */ (begin);
    assert.match(violationsOf(begun).join(), /lock a\/1 never ended/);
    assert.deepEqual(violationsOf(begun, happens('gone', 'a')), []);
});

/** The longest time in which a lock operation of the test may end. */
const lockMost_ms = (BOUNDS_MS['lock'] ?? 0) + BUSY_MACHINE_MS;

/**
 * A lock operation of the page `a`.
 *
 * @param {number} waited_ms
 * @param {Event[]} [between]
 */
function slowLock(waited_ms, between = []) {
    const [begin, end] = /** @type {[Event, Event]} */ (operation('a/1', 'lock', [], { waited_ms }));
    return [begin, ...between, { ...end, time_ms: waited_ms }];
}

test('an operation that takes longer than its bound is a violation', () => {
    assert.deepEqual(violationsOf(...slowLock(lockMost_ms)), []);
    assert.match(
        violationsOf(...slowLock(lockMost_ms + 1)).join(),
        /lock a\/1 took 29001 ms, and its bound is 19000 ms/,
    );
});

test('only the time for which the page of an operation was stopped is added to its bound', () => {
    const stopped = (/** @type {string} */ page) => [
        { ...happens('disturbed', page), time_ms: 1000 },
        { ...happens('calm', page), time_ms: 4000 },
    ];
    assert.deepEqual(violationsOf(...slowLock(lockMost_ms + 3000, stopped('a'))), []);
    assert.match(violationsOf(...slowLock(lockMost_ms + 3001, stopped('a'))).join(), /took 29001 ms/);
    assert.match(violationsOf(...slowLock(lockMost_ms + 3000, stopped('b'))).join(), /took 32000 ms/);
    const [stop] = stopped('a');
    assert.deepEqual(
        violationsOf(.../** @type {Event[]} */ ([stop]), ...slowLock(lockMost_ms + 3000)),
        [],
        'a page that is stopped until the end of the log',
    );
});

test('a stop of the page before an operation begins, or after it has ended, is not added to its bound', () => {
    const [begin, end] = /** @type {[Event, Event]} */ (slowLock(lockMost_ms + 1));
    const stop = { ...happens('disturbed', 'a'), time_ms: lockMost_ms + 1 };
    const ended = { ...end, time_ms: lockMost_ms + 9001 };
    const violations = violationsOf(begin, stop, { ...happens('calm', 'a'), time_ms: ended.time_ms }, ended);
    assert.match(violations.join(), /took 29001 ms/);
});

test('an operation that exceeds its bound before its page is gone is a violation', () => {
    const [begin] = slowLock(0);
    const gone = (/** @type {number} */ time_ms) => ({ ...happens('gone', 'a'), time_ms });
    assert.deepEqual(violationsOf(/** @type {Event} */ (begin), gone(lockMost_ms)), []);
    assert.match(violationsOf(/** @type {Event} */ (begin), gone(lockMost_ms + 1)).join(), /took 29001 ms/);
});

test('each kind of operation has a bound', () => {
    assert.deepEqual(Object.keys(BOUNDS_MS).sort(), ['lead', ...LOOP_KINDS].sort());
});

test('the longest operation of each kind is reported with what happened to its page and to others', () => {
    const { figures } = check([
        { type: 'step', page: 'a', what: 'silenceConnections', time_ms: 0 },
        { ...happens('fault', 'a'), time_ms: 0 },
        { type: 'step', page: 'b', what: 'suspend', time_ms: 0 },
        { ...happens('disturbed', 'b'), time_ms: 0 },
        ...[...slowLock(7000), ...operation('c/1', 'lock', [])].map((event) => ({ time_ms: 5, ...event })),
        SIZES,
    ]);
    assert.deepEqual(figures['longestWaits'], {
        lock: {
            bound_ms: BOUNDS_MS['lock'],
            op: 'a/1',
            from_ms: 5,
            waited_ms: 7000,
            counted_ms: 7000,
            outcome: 'ok',
            ownPage: ['silenceConnections'],
            otherPages: ['suspend'],
        },
    });
});

/** An operation of the page `a` that failed. @param {string} code */
const failed = (code) => operation('a/1', 'lock', [], { ok: false, code, message: 'because' });

test('an error that is not documented is a violation, and an error of the store needs a fault', () => {
    assert.deepEqual(violationsOf(...failed('TimeoutError')), []);
    assert.match(violationsOf(...failed('internal')).join(), /lock a\/1 failed with internal: because/);
    assert.match(violationsOf(...failed('store-failed')).join(), /store-failed/);
    assert.deepEqual(violationsOf(happens('fault', 'a'), ...failed('store-failed')), []);
    const timed = (/** @type {number} */ time_ms, event = happens('disturbed', 'b')) => [
        { ...event, time_ms: 0 },
        ...failed('store-failed').map((event) => ({ ...event, time_ms })),
    ];
    assert.deepEqual(violationsOf(...timed(10_000)), []);
    assert.match(violationsOf(...timed(40_000)).join(), /store-failed/);
    assert.deepEqual(violationsOf(...timed(40_000, happens('fault', 'a'))), []);
    assert.match(violationsOf(...timed(70_000, happens('fault', 'a'))).join(), /store-failed/);
    assert.match(violationsOf(...failed('unavailable')).join(), /unavailable/);
    assert.deepEqual(violationsOf(happens('disturbed', 'a'), ...failed('unavailable')), []);
    const uncaught = { type: 'uncaught', page: 'a', message: 'oh' };
    assert.match(violationsOf(uncaught).join(), /page a caught an error that nobody handled: oh/);
});

test('only a page of an older version may be refused because of the version', () => {
    const older = { type: 'package', page: 'a', mayBeRefused: true };
    const refused = failed('version-mismatch');
    assert.deepEqual(violationsOf(older, ...refused), []);
    for (const other of [{ page: 'b' }, { mayBeRefused: false }])
        assert.match(violationsOf({ ...older, ...other }, ...refused).join(), /version-mismatch/);
});

test('data that tabs leave behind without a bound are a violation', () => {
    const left = (/** @type {object} */ more) => check([{ ...SIZES, ...more }]).violations.join();
    assert.match(left({ rows: { jobs: 9000 } }), /9000 rows of IndexedDB/);
    assert.match(left({ keys: 9000 }), /9000 keys of localStorage/);
    assert.match(left({ locks: 9000 }), /9000 locks/);
    const memory = [30, 250, 260, 420].map((megabytes, index) => ({
        type: 'memory',
        bytes: megabytes * 2 ** 20,
        time_ms: index * 40_000,
    }));
    assert.match(violationsOf(...memory).join(), /memory of a tab grew/);
    assert.deepEqual(violationsOf(...memory.slice(0, 3)), []);
});

test('a schedule depends on its seed alone, does what the engine can, and keeps the oldest tab', () => {
    const can = new Set(['crash', 'reload', 'freeze']);
    const first = (/** @type {number} */ seed) => {
        const steps = schedule(seed, { tabs: 6, can });
        return Array.from({ length: 200 }, () => steps.next().value);
    };
    assert.deepEqual(first(1), first(1));
    assert.notDeepEqual(first(1), first(2));
    const kinds = new Set(first(1).map(({ what }) => what));
    assert.deepEqual(kinds, new Set(['crash', 'reload', 'freeze']));
    assert.ok(first(1).every(({ what, tab }) => tab < 6 && (tab > 0 || what === 'freeze')));
});

test('the log keeps an entry once that a page sends again', async () => {
    const log = new EventLog();
    const send = (/** @type {string} */ entry) => {
        const body = JSON.stringify({ entry, event: { type: entry } });
        const request = /** @type {any} */ ({
            setEncoding: () => [body],
        });
        return log.handle(request, /** @type {any} */ ({ end() {} }), '');
    };
    await send('a/1');
    await send('a/1');
    await send('a/2');
    assert.deepEqual(
        log.events.map(({ type }) => type),
        ['a/1', 'a/2'],
    );
});
