/**
 * Faults planted in the JavaScript of the host, each with the test file that must kill it. `node scripts/plant.js`
 * plants them.
 */

/** @typedef {import('./emulator.js').Planted} Planted */

/** @param {string} file @param {string} test @returns {(fault: string, find: string, replace: string) => Planted} */
const of = (file, test) => (fault, find, replace) => ({
    file: `js/host/${file}.js`,
    test,
    fault,
    find,
    replace,
});

/** @type {Planted[]} */
export const PLANTED = [
    of('transaction', 'dead-connection')(
        'the proof of a commit is not looked for',
        'if (this.#uncertain) this.#prove();',
        'if (!this.#requests) this.#prove();',
    ),
    of('transaction', 'dead-connection')(
        'a commit whose proof was overwritten counts as one that was not made',
        'if (request.result === value) return this.#end(null);',
        'if (request.result === value) return this.#end(null);\n            this.#uncertain = false;',
    ),
    of('transaction', 'dead-connection')(
        'a dead transaction is not repeated',
        'const over = ++this.#repetitions > repetitionsMax',
        'const over = ++this.#repetitions > 0',
    ),
    of('transaction', 'tab-host')(
        'a repetition does not compare what it reads',
        'if (!isEqual(before, now)) {',
        'if (before === now) {',
    ),
    {
        file: 'js/common/wait-end.js',
        test: 'wait-ends',
        fault: 'a timeout does not end the wait for a call of the core',
        find: 'clock.after(bound_ms, ',
        replace: 'clock.after(20 * bound_ms, ',
    },
    of('lock-probe', 'cleared')(
        'a tab that is cut off does not learn that from its frame',
        '(lock) => lock !== null',
        '(lock) => lock === null',
    ),
    of('lock-probe', 'cleared')(
        'a tab whose frame does not answer goes on to lock',
        'answer ?? true',
        'answer ?? false',
    ),
    of('transaction', 'database-faults')(
        'a transaction that is not answered waits for ever',
        'if (++this.#silent < 5) return;',
        'if (++this.#silent < 5_000) return;',
    ),
    of('connection', 'database-faults')(
        'a database that another tab holds up is taken for a dead one',
        'this.#hung = hung;',
        'this.#hung = hung && !cause;',
    ),
    {
        file: 'js/common/arrival.js',
        test: 'compile-wasm',
        fault: 'a file that does not arrive is waited for without a bound',
        find: 'const arrival_ms = 60_000;',
        replace: 'const arrival_ms = 6_000_000;',
    },
    of('transaction', 'database-faults')(
        'a read of a transaction that ended without a connection is not settled',
        'if (this.#outcome && !this.#transaction) return',
        'if (this.#outcome && this.#transaction === null) return',
    ),
];
