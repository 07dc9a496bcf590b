/**
 * Faults planted in the JavaScript of the storage and the locks that threads share, each with the test file
 * that must kill it. `node scripts/plant.js` plants them.
 */

/** @typedef {import('./emulator.js').Planted} Planted */

/** @param {string} file @param {string} test @returns {(fault: string, find: string, replace: string) => Planted} */
const of = (file, test) => (fault, find, replace) => ({
    file: `js/threads/${file}.js`,
    test: `threads-${test}`,
    fault,
    find,
    replace,
});

const storage = of('storage/thread-storage', 'storage');
const area = of('storage/storage-area', 'storage');
const mirror = of('storage/local-storage-mirror', 'storage');
const locks = of('locks/thread-lock-manager', 'locks');
const joining = of('exit/join-memory', 'entering');

/** @type {Planted[]} */
export const PLANTED = [
    joining(
        'a thread that finds no slot does not make the page look for slots of dead threads',
        'Atomics.add(words, joined, 1);\n        Atomics.notify(words, joined);',
        '',
    ),
    area(
        'a value that was read is never read again',
        'if (version === this.#readVersion) return;',
        'if (this.#readVersion >= 0) return;',
    ),
    area(
        'a write to a full storage does not throw',
        "throw new QuotaExceededError('the storage is full');",
        'return;',
    ),
    area('a writer is notified of its own change', '!== self) changes.push', '!== -1) changes.push'),
    storage(
        'a listener that has missed changes gets no event',
        'changes ?? [{ key: null, oldValue: null, newValue: null }]',
        'changes ?? []',
    ),
    mirror('items of localStorage are not read', 'this.#pullAll();\n        this.#pushed', 'this.#pushed'),
    mirror('an item that did not fit is forgotten', 'this.#unwritten.add(key);', 'void key;'),
    mirror(
        'a page that falls behind writes items that its threads have not changed',
        'if (value === (this.#common.get(key) ?? null)) continue;',
        '',
    ),
    mirror(
        'an item that a thread writes meanwhile is not written to localStorage',
        'if (!full && this.#local.getItem(key) !== value) this.#write(key, value);',
        '',
    ),
    area(
        'a writer is notified of its own changes, if they are many',
        'if (this.seen === before) this.seen = this.latest;',
        '',
    ),
    locks(
        'an abort after close() releases a request that is gone',
        'if (request.block === 0) return;\n        this.#drop',
        'this.#drop',
    ),
    storage('an item that the page sets is written later', 'area.onWrite = () => core.mirror?.push();', ''),
    locks(
        'an aborted request stays in the queue',
        'this.#drop(request);\n        this.#forget(request, () => request.reject(request',
        'this.#forget(request, () => request.reject(request',
    ),
    locks(
        'the previous holder of a stolen lock is not notified',
        'if (request.block !== 0) this.#rejectStolen(request);',
        '',
    ),
    locks(
        'the promise is settled before the release',
        'const stolen = this.#drop(request) === lockStates.stolen;',
        'const stolen = this.#state(request.block) === lockStates.stolen;\n        if (!stolen) request.resolve(waiting);\n        await task();\n        this.#drop(request);',
    ),
];
