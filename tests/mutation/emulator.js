/**
 * Faults planted in the emulator's JavaScript, each with the test file that must kill it.
 * `node scripts/plant.js` plants them.
 */

/* eslint no-template-curly-in-string: off -- the texts are code */

/** @typedef {{ file: string, fault: string, find: string, replace: string, test: string }} Planted */

/** @param {string} file @param {string} test @returns {(fault: string, find: string, replace: string) => Planted} */
const of = (file, test) => (fault, find, replace) => ({
    file: `js/emulator/${file}.js`,
    test: `emulator-${test}`,
    fault,
    find,
    replace,
});

const storage = of('../platform/storage-interface', 'storage');
const area = of('global/context-storage', 'storage');
const storageEvent = of('../platform/events', 'storage-events');
const locks = of('global/context-locks', 'locks');
const channel = of('messages/broadcast-channel', 'channels');
const clock = of('global/clock', 'clock');
const tab = of('emulated-tab', 'tabs');
const script = of('scripts/run-script', 'tabs');
const explore = of('explore', 'explore');

/** @type {Planted[]} */
export const PLANTED = [
    {
        file: 'js/emulator/database/transactions.js',
        test: 'full-disk',
        fault: 'time passes between the abort of a transaction and its event',
        find: 'if (aborts) hostTask(done, true);',
        replace: 'if (aborts) done();',
    },
    storage(
        'an item shadows the prototype',
        "typeof key === 'symbol' || key in target ? null",
        "typeof key === 'symbol' ? null",
    ),
    storage(
        'a shadowed item is enumerated',
        'items.keys().filter((key) => !(key in target))',
        'items.keys()',
    ),
    area('a full storage is silent', 'throw context.quotaExceeded();', 'return;'),
    area(
        'a value that is too big is read all the same',
        'if (!context.rules.set(context.id, this.#area, key, value)) throw context.quotaExceeded();',
        'this.#values.set(key, value); if (!context.rules.set(context.id, this.#area, key, value)) { this.#version = context.rules.version; throw context.quotaExceeded(); }',
    ),
    storage(
        'an accessor becomes an item',
        "if (!('value' in given || 'writable' in given) || given.configurable === false) return false;",
        '',
    ),
    storage(
        'a storage can be frozen',
        'preventExtensions: () => false',
        'preventExtensions: (target) => Reflect.preventExtensions(target)',
    ),
    storage('an object that inherits from a storage writes to it', 'if (receiver !== self() || ', 'if ('),
    storage('key() takes numbers as they are', 'const at = index >>> 0;', 'const at = Number(index);'),
    storage(
        'the value is converted before the key',
        'items.set(`${key}`, `${value}`);\n        }',
        'const text = `${value}`; items.set(`${key}`, text);\n        }',
    ),
    storage(
        'arguments are not counted',
        "if (arguments.length < 2) requireArguments(\"execute 'setItem' on 'Storage'\", arguments, 2);",
        '',
    ),
    area('a stale copy is kept', 'this.#values.clear();', ''),
    area(
        'a new key does not change the order of keys',
        'this.#keys = isNew ? null : keys;',
        'this.#keys = keys;',
    ),
    {
        ...storage('', '', ''),
        file: 'js/platform/web-idl.js',
        fault: 'members of interfaces are not enumerable',
        find: "if (key !== 'constructor' && !inherited.includes(key)) Object.defineProperty(prototype, key, enumerable);",
        replace: '',
    },
    {
        ...storageEvent('', '', ''),
        file: 'js/platform/web-idl.js',
        fault: 'a later handler loses its position',
        find: 'known.handler = handler;\n        return;',
        replace: 'known.handler = null;',
    },
    {
        ...storage('', '', ''),
        file: 'js/emulator/rules.js',
        fault: 'lone surrogates are lost',
        find: 'text += String.fromCharCode(',
        replace: "text += ((...units) => new TextDecoder('utf-16le').decode(new Uint16Array(units)))(",
    },
    {
        ...storageEvent('', '', ''),
        file: 'js/platform/events.js',
        fault: 'undefined becomes a text',
        find: 'value === undefined ? member.initial : member.convert(value)',
        replace: 'convert(value)',
    },
    {
        ...storageEvent('', '', ''),
        file: 'js/platform/events.js',
        fault: 'an initialiser accepts an object that is no event',
        find: "read(this, '');",
        replace: '',
    },
    {
        ...storageEvent('', '', ''),
        file: 'js/platform/events.js',
        fault: 'the host reads the dictionary of an event',
        find: 'ours.has(given) ? given : eventInit(given)',
        replace: 'given',
    },
    of('dom/window-open', 'windows')(
        'the opener of a pop-up is the tab and not the frame',
        'if (!alone) opened.openedBy = context;',
        '',
    ),
    of('context', 'handlers')('window.event stays set', 'this.event = outer;', ''),
    of('dom/element', 'handlers')(
        'a body has handlers of its own',
        'Node.contextOf(this).window[name] = value;',
        '',
    ),
    of('global/global-object', 'interfaces')(
        'interface objects wait to be read',
        'if (EARLY.has(name)) made.early.push(name);',
        'if (EARLY.has(name)) made.properties[name] = property;',
    ),
    {
        ...storageEvent('', '', ''),
        file: 'js/emulator/origin.js',
        fault: "an event reports the receiver's address",
        find: 'this.contexts.get(from)?.address.href',
        replace: 'context.address.href',
    },
    {
        ...storageEvent('', '', ''),
        file: 'js/emulator/emulated-tab.js',
        fault: 'an opened tab does not copy its session',
        find: 'origin.rules.calls.openSession(opener?.session ?? 0)',
        replace: 'origin.rules.calls.openSession(0)',
    },
    {
        ...storageEvent('', '', ''),
        file: 'js/emulator/emulated-tab.js',
        fault: 'an opened tab is a process of its own',
        find: 'this.process = shared ? shared.process : origin.rules.calls.openProcess();',
        replace: 'this.process = origin.rules.calls.openProcess();',
    },
    locks(
        'an abort after the grant releases the lock',
        'request.forget();\n        const lock',
        'const lock',
    ),
    locks(
        'an aborted request is granted all the same',
        'if (request.options.signal?.aborted) {',
        'if (false) {',
    ),
    locks(
        'an aborted request stays in the queue',
        'this.#context.rules.calls.abortLock(this.#context.id, number);',
        '',
    ),
    locks(
        'a previous holder is not notified of a steal',
        "this.#requests.get(number)?.reject(new DOMException(stolenMessage, 'AbortError'));",
        '',
    ),
    locks(
        'the promise is settled before the release',
        'request.settle = request.resolve;',
        'request.resolve(request.outcome);',
    ),
    locks(
        'an error of the callback does not reject the promise',
        'request.settle = request.reject;',
        'request.settle = request.resolve;',
    ),
    locks('a removed frame may request a lock', 'if (!this.#context.fullyActive) throw', 'if (false) throw'),
    locks(
        'pending requests are reported as held',
        '{ held: infos(held), pending: infos(pending) }',
        '{ held: infos([...held, ...pending]), pending: [] }',
    ),
    channel('a message is not cloned', 'context.serialize(message)', 'message'),
    channel('a closed channel receives', 'context.channels.delete(this.#endpoint);', ''),
    channel('a closed channel posts', 'if (this.#closed) throw', 'if (false) throw'),
    clock('cleared timers run', 'this.#timers.delete(id);\n        this.#end(timer);', 'this.#end(timer);'),
    clock('nested timers are not clamped', 'nested = nesting > nestingMax', 'nested = false'),
    clock('an interval runs once', 'if (repeats && this.#timers.has(id))', 'if (false)'),
    clock(
        'a loop that waits for the clock never ends',
        'if (this.virtual && ++this.#reads > readsMax) this.#rules.calls.jump(1);',
        'if (++this.#reads > 1e7) throw new Error("it hangs");',
    ),
    of('emulated-tab', 'channels')(
        'a frozen tab runs',
        '!this.frozen && !this.suspended;',
        '!this.suspended;',
    ),
    tab('a page that holds a lock is cached', 'if (!this.cached) this.kill();', 'this.cached = true;'),
    tab(
        'the lock is checked before the handlers have run',
        'await new Promise((resolve) => hostTask',
        'void new Promise((resolve) => hostTask',
    ),
    tab(
        'a dead tab keeps its transactions',
        'endDatabases(context);\n            context.close();',
        'context.close();',
    ),
    tab('all writes of a killed tab arrive', 'this.origin.random.below(underWay + 1)', 'underWay'),
    script(
        "scripts see Node's globals",
        "key !== 'eval' && !(lent",
        "!(key in globalThis) && key !== 'eval' && !(lent",
    ),
    of('verdict/failure', 'verdicts')(
        'every failure is the same',
        'firstSentence(one.failure) === firstSentence(other.failure)',
        "other.failure !== ''",
    ),
    of('explore', 'verdicts')(
        'a run whose host is busy waits for ever',
        'if (stuck.length > 0 && this.#missed) this.standsStill(',
        'if (false) this.standsStill(',
    ),
    of('verdict/rejections', 'verdicts')('a cancelled rejection is a failure', 'if (!prevented && ', 'if ('),
    of('dom/event-target', 'dead-tabs')(
        'a listener of a dead tab runs',
        'context.runs ? context.callListener(event, invoke) : undefined',
        'context.callListener(event, invoke)',
    ),
    of('database/transactions', 'dead-tabs')(
        'a handler of a request of a dead tab runs',
        'if (!context.alive) return true;\n        const { database }',
        'const { database }',
    ),
    explore('a run that hangs is no failure', 'if (stuck.length > 0)', 'if (false)'),
    explore('an error that a tab throws is no failure', 'tab.closed || this.fail(', 'tab || this.fail('),
    of('verdict/shrink', 'explore')(
        'no failing schedule is shrunk',
        'if (shrinking.runsLeft-- <= 0) return false;',
        'return false;',
    ),
    explore('a replay is a random walk', 'if (run.schedule) calls.runBy([...run.schedule]);', 'if (false) ;'),
    of('global/context-storage', 'edges')(
        'a dead tab reads its storage',
        'if (!context.active) return null;',
        '',
    ),
    of('global/clock', 'edges')(
        'setting the clock moves the monotonic one',
        'this.#ahead_ms = wall_ms - this.now();',
        'this.#rules.calls.jump(wall_ms - this.now());',
    ),
    of('../platform/web-idl', 'edges')(
        'a handler keeps its position for ever',
        'target.removeEventListener(type, known.listener);',
        'known.handler = null; handlers.set(target, known); return;',
    ),
    of('messages/post-message', 'edges')(
        'the target origin of a message is ignored',
        'return new URL(target).origin;',
        "return '*';",
    ),
    of('messages/post-message', 'edges')(
        'no object is transferred',
        'marks: [...marks.values()] }, { transfer: rest })',
        'marks: [...marks.values()] }, {})',
    ),
    of('host/host-work', 'host')(
        'a result is delivered while databases advance',
        'if (origin.database?.steps) await awaitQuiescence(origin.database);',
        '',
    ),
    of('host/compression-streams', 'host')(
        'a chunk is compressed beside the schedule',
        'await tracked(context, work, `a chunk of ${name}`)',
        'await work',
    ),
    of('scripts/dynamic-import', 'host')(
        'an import completes beside the schedule',
        "tracked(context, load(...given), 'import()')",
        'load(...given)',
    ),
    of('record-format', 'formats')(
        'a tab of a later format changes a queue in which a tab of an earlier one has a job',
        "const first = store.name === 'jobs' && this.#hasOlderClaim(store, key);",
        'const first = false;',
    ),
    of('../emulator', 'host')('no run loads the modules of a closure', 'await warmUp(plan);', ''),
    of('global/global-object', 'interfaces')(
        'every context is secure',
        "if (protocol === 'https:' || protocol === 'wss:') return true;",
        'if (protocol) return true;',
    ),
    of('dom/window-open', 'interfaces')(
        'a window without a referrer has an opener',
        "const alone = featured(wanted, 'noopener') || featured(wanted, 'noreferrer');",
        "const alone = featured(wanted, 'noopener');",
    ),
    of('emulated-tab', 'edges')(
        'a frame leaves its frames behind',
        'for (const inner of this.framesOf(frame)) this.closeFrame(inner);',
        '',
    ),
    of('../common/host-work', 'own')(
        'work of the package is not tracked',
        'track && window !== globalThis',
        'track && !window',
    ),
    of('../queue/queues', 'own')(
        'a closing queue waits by a timer of the host',
        'this.#bridge.host.clock.after(closeWait_ms, () => resolve(undefined));',
        'clearTimeout.bind(undefined, setTimeout(resolve, closeWait_ms));',
    ),
    of('host/host-work', 'own')(
        'databases go on while a run waits for the host',
        'if (origin.database?.steps) await awaitQuiescence(origin.database);',
        '',
    ),
    of('explore', 'own')('a stopped tab stays stopped while timers go on', 'this.#resumeInTime();', ''),
    of('explore', 'timer-window')(
        'a timer of days overtakes everything',
        'calls.setTimerWindow(plan.timerWindow_ms);',
        '',
    ),
    of('trace/storage-read', 'trace')(
        'a story does not know that a read is stale',
        "${area === 0 ? unseen(context, key) : ''}",
        '',
    ),
    of('rules', 'exhaust')(
        'a proof does not see the code that handles a storage event',
        "if (this.#searched && hasListener(window, 'storage')) this.calls.noteMemory(id);",
        '',
    ),
    of('rules', 'exhaust')(
        'a proof does not see which contexts listen',
        'this.calls.noteListener(context.id);',
        '',
    ),
    of('rules', 'exhaust')(
        'a proof does not see transactions of databases',
        'if (this.#searched) this.calls.setBeside(beside);',
        '',
    ),
    of('searched-scenario', 'exhaust')(
        'a proof does not see what tabs share',
        'const share = () => (this.#shared = true);',
        'const share = () => {};',
    ),
    of('host/body-interfaces', 'host')(
        'a copy of a request counts as a stream',
        'return streamed.has(source);',
        'return source instanceof Request;',
    ),
    of('trace/storage-read', 'trace')('a story repeats its reads', "story: repeats ? '' : story", 'story'),
    of('trace/source-line', 'trace')(
        'a function from its text has the lines of another one in a trace',
        '- Number(before)',
        '',
    ),
    of('trace/source-line', 'trace')(
        "a trace names the emulator's lines",
        'frames.find(({ file }) => !isPlatform(file))',
        'frames[1]',
    ),
    of('global/clock', 'trace')(
        'a throttled timer loses its delay in the trace',
        'now_ms, 0), timer.set_ms, timer.nested);',
        'now_ms, 0), 0, timer.nested);',
    ),
];
