/** Pop-ups, the messages and errors of windows, and their operations. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { resultOf } from './script-result.js';

describe('windows', () => {
    it('a pop-up with a URL fires load, in a task of its own', async () => {
        const { result } = await resultOf(`
            const results = [];
            const [popup, blank] = [open('page.html'), open('')];
            popup.onload = ({ isTrusted, target }) => results.push('load', isTrusted, target === popup);
            blank.onload = () => results.push('never');
            results.push('opened');
            setTimeout(resolve, 1, results);`);
        assert.deepEqual(result, ['opened', 'load', true, true]);
    });

    it('the opener of a pop-up is the frame that opened it, until that frame is removed (HTML §7.2.2.1)', async () => {
        const { result } = await resultOf(`
            const frame = document.createElement('iframe');
            document.body.append(frame);
            const inner = frame.contentWindow;
            inner.sessionStorage.s = 'copied';
            const popup = inner.open('', 'p');
            const results = [popup.opener === inner, popup.sessionStorage.s, open('').opener === window];
            inner.onmessage = ({ data }) => {
                frame.remove();
                resolve([...results, data, popup.opener]);
            };
            popup.opener.postMessage('to the frame', '*');`);
        assert.deepEqual(result, [true, 'copied', true, 'to the frame', null]);
    });

    it('open() returns the window of a name that is taken or the one that a keyword means (§7.3.1.7)', async () => {
        const { result } = await resultOf(`
            sessionStorage.a = 1;
            const first = open('', 'one');
            sessionStorage.b = 2;
            const results = [open('', 'one') === first, Object.keys(first.sessionStorage).join(), first.location.href, first.origin === origin, first.name];
            results.push(open('', '_self') === window, first.open('', '_top') === first, first.open('', 'one') === first, open('', 'one', 'noopener'), first.opener === window);
            first.name = 5;
            results.push(open('', '5') === first, open('', 'one') === first, open('about:blank') !== first);
            resolve(results);`);
        assert.deepEqual(result, [
            true,
            'a',
            'about:blank',
            true,
            'one',
            true,
            true,
            true,
            null,
            true,
            true,
            false,
            true,
        ]);
    });

    it('onerror receives five arguments and handles by returning true, also for microtasks and reportError() (§8.1.4.3, §8.1.8.1)', async () => {
        const { result, uncaught } = await resultOf(`
            const results = [];
            onerror = (...given) => { results.push([given.length, given[0], given[4]?.message].join()); return results.length < 4; };
            queueMicrotask(() => { throw new Error('a'); });
            setTimeout(() => { throw new Error('b'); });
            const channels = [new BroadcastChannel('c'), new BroadcastChannel('c')];
            channels[0].onmessage = () => { throw new Error('c'); };
            setTimeout(() => channels[1].postMessage(0), 1);
            setTimeout(() => { reportError(new Error('d')); resolve(results); }, 2);`);
        assert.deepEqual(
            result,
            ['a', 'b', 'c', 'd'].map((name) => `5,Uncaught Error: ${name},${name}`),
        );
        assert.deepEqual(uncaught.map(String), ['Error: d']);
    });

    it('messages of ports arrive before time passes, and a port that is transferred keeps the messages on their way (§9.4)', async () => {
        for (const seed of [0, 5, 9]) {
            const { result, uncaught } = await resultOf(
                `
                const { port1, port2 } = new MessageChannel();
                const results = [];
                port1.postMessage('early');
                const worker = new Worker("data:,onmessage = ({ data, ports }) => { data.in[0].onmessage = ({ data: text }) => data.in[0].postMessage('re ' + text); }");
                worker.postMessage({ in: [port2] }, [port2]);
                port1.postMessage('late');
                port1.onmessage = ({ data, target, isTrusted }) => results.push(data, target === port1, isTrusted);
                for (const transfer of [[port2], [port1, port1]]) {
                    try { postMessage(0, '*', transfer); } catch ({ name }) { results.push(name); }
                }
                setTimeout(resolve, 1, results);`,
                { seed },
            );
            assert.deepEqual(
                [result, uncaught],
                [['DataCloneError', 'DataCloneError', 're early', true, true, 're late', true, true], []],
            );
        }
    });

    it('a started port that is transferred loses and reorders no message (§9.4.4)', async () => {
        for (const seed of [undefined, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
            const { result, uncaught } = await resultOf(
                `
                const { port1, port2 } = new MessageChannel();
                const results = [];
                const receive = ({ data }) => { results.push(data); if (results.length === 8) resolve(results.join('')); };
                const go = () => { port1.postMessage(results.length + '!'); postMessage(port2, '*', [port2]); port1.postMessage('?'); };
                port2.onmessage = (event) => { receive(event); if (results.length === 2) go(); };
                onmessage = ({ data: port }) => { port.onmessage = receive; port1.postMessage('.'); };
                for (const text of 'abcde') port1.postMessage(text);
                setTimeout(resolve, 9, results);`,
                { ...(seed && { seed }) },
            );
            assert.deepEqual([result, uncaught], ['abcde2!?.', []]);
        }
    });

    it('a closed port is detached, and its peer receives `close` after all messages, wherever it is (§9.4.4)', async () => {
        const { result, uncaught } = await resultOf(`
            const results = [];
            const [here, early, away, after] = Array.from({ length: 4 }, () => new MessageChannel());
            here.port2.onmessage = ({ data }) => results.push(data);
            here.port2.onclose = ({ isTrusted }) => results.push('here ' + isTrusted);
            early.port2.onclose = () => results.push('early');
            here.port1.postMessage('first');
            onmessage = ({ data }) => { data.onclose = () => results.push('away'); };
            postMessage(away.port2, '*', [away.port2]);
            for (const { port1 } of [here, early, away]) { port1.onclose = () => results.push('never'); port1.close(); port1.close(); }
            after.port1.close();
            postMessage(after.port2, '*', [after.port2]);
            for (const { port1 } of [here, away]) { try { postMessage(0, '*', [port1]); } catch ({ name }) { results.push(name); } }
            setTimeout(resolve, 9, results);`);
        assert.deepEqual(
            [result, uncaught],
            [['DataCloneError', 'DataCloneError', 'first', 'here true', 'early', 'away', 'away'], []],
        );
    });

    it('a thrown value that cannot be converted to a string is reported, and the tab goes on', async () => {
        const { result, uncaught } = await resultOf(`
            const { proxy, revoke } = Proxy.revocable({}, {});
            revoke();
            const results = [];
            const wrong = [Symbol('s'), Object.create(null), { toString() { throw new Error('no'); } }, proxy];
            onerror = (message) => { results.push(message); return true; };
            wrong.forEach((error, at) => setTimeout(() => { throw error; }, at));
            setTimeout(resolve, 9, results);`);
        assert.deepEqual(
            [result, uncaught],
            [
                [
                    'Uncaught Symbol(s)',
                    'Uncaught [object Object]',
                    'Uncaught [object Object]',
                    'Uncaught an exception',
                ],
                [],
            ],
        );
    });

    it('an error that an error handler throws is reported without being dispatched', async () => {
        const { result, uncaught } = await resultOf(`
            addEventListener('error', () => { throw new Error('b'); });
            setTimeout(() => { throw new Error('a'); });
            setTimeout(resolve, 1, 'goes on');`);
        assert.deepEqual([result, uncaught.map(String)], ['goes on', ['Error: b', 'Error: a']]);
    });

    it('beforeunload is a BeforeUnloadEvent, and what its handler returns is the returnValue (§7.4.3)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        /** @type {unknown[]} */
        const results = [];
        window.onbeforeunload = () => 'stay';
        window.addEventListener('beforeunload', (/** @type {any} */ event) =>
            results.push(
                event instanceof window.BeforeUnloadEvent,
                event.returnValue,
                event.defaultPrevented,
            ),
        );
        assert.throws(() => new window.BeforeUnloadEvent(), TypeError);
        await tab.close();
        assert.deepEqual(results, [true, 'stay', true]);
        origin.close();
    });

    it('MessageEvent and ErrorEvent read the members of their dictionaries in the order of the names (Web IDL §3.2.17)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const event = new window.MessageEvent('x', { source: window, data: 1, origin: '\uD800' });
        assert.deepEqual(
            [
                event.source === window,
                event.data,
                event.origin,
                event.lastEventId,
                Object.isFrozen(event.ports),
            ],
            [true, 1, '\uFFFD', '', true],
        );
        for (const wrong of [{ source: {} }, { ports: null }, { ports: [{}] }])
            assert.throws(() => new window.MessageEvent('x', wrong), TypeError);
        event.initMessageEvent('y', true, false, 2);
        assert.deepEqual([event.type, event.bubbles, event.data, event.source], ['y', true, 2, null]);
        /** @type {string[]} */
        const order = [];
        new window.ErrorEvent('x', new Proxy({}, { get: (_, key) => void order.push(String(key)) }));
        assert.deepEqual(order.slice(-5), ['colno', 'error', 'filename', 'lineno', 'message']);
        origin.close();
    });

    it('operations have names and lengths and refuse wrong arguments at once, and a value that cannot be cloned is a DataCloneError', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        for (const [name, length] of Object.entries({
            setTimeout: 1,
            clearTimeout: 0,
            queueMicrotask: 1,
            postMessage: 1,
            reportError: 1,
            structuredClone: 1,
        })) {
            assert.deepEqual([window[name].name, window[name].length], [name, length]);
            if (length > 0) assert.throws(() => window[name](), TypeError);
        }
        assert.throws(() => window.queueMicrotask('text'), TypeError);
        const { port1, port2 } = new window.MessageChannel();
        const channel = new window.BroadcastChannel('n');
        /** @type {any} */
        const loop = { list: [] };
        loop.list.push(loop);
        for (const what of [
            window,
            window.document,
            window.document.body,
            window.localStorage,
            port1,
            channel,
            window.navigator,
            new Event('x'),
            () => {},
        ]) {
            for (const within of [
                what,
                { what },
                [[what]],
                new Map([[what, 1]]),
                new Set([what]),
                { ...loop, what },
            ]) {
                assert.throws(() => window.postMessage(within, '*'), { name: 'DataCloneError' });
                assert.throws(() => channel.postMessage(within), { name: 'DataCloneError' });
                assert.throws(() => window.structuredClone({ within, port2 }, { transfer: [port2] }), {
                    name: 'DataCloneError',
                });
            }
        }
        for (const what of [window, channel, {}])
            assert.throws(() => window.postMessage(0, '*', [what]), { name: 'DataCloneError' });
        const copy = window.structuredClone(loop);
        assert.equal(copy.list[0], copy);
        assert.equal(window.structuredClone(Object.assign(new Error('e'), { window })).message, 'e');
        assert.ok(
            window.structuredClone({ port2 }, { transfer: [port2] }).port2 instanceof window.MessagePort,
        );
        assert.throws(() => window.crypto.getRandomValues(new Float32Array(1)), {
            name: 'TypeMismatchError',
        });
        assert.throws(() => window.crypto.getRandomValues(new Uint8Array(65_537)), {
            name: 'QuotaExceededError',
        });
        assert.ok('locks' in window.Navigator.prototype && !Object.hasOwn(window.navigator, 'locks'));
        assert.throws(() => window.Navigator.prototype.locks, TypeError);
        origin.close();
    });
});
