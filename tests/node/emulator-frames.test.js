/** Frames, pop-ups and workers opened as a page opens them, and how their global objects refer to each other. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

/** After which a test that hangs fails. */
const timeoutMs = 3_000;

/** The value of a script in a tab, when all has happened. @param {string} script @param {object} [options] */
async function resultOf(script, options) {
    const origin = await createOrigin(options);
    const tab = origin.openTab();
    /** @type {unknown[]} */
    const uncaught = [];
    origin.uncaught = (error) => uncaught.push(error);
    const value = tab.run(`new Promise((resolve) => { ${script} })`);
    const result = await Promise.race([
        value,
        new Promise((resolve) => setTimeout(resolve, timeoutMs, 'no result')),
    ]);
    await origin.settled();
    origin.close();
    return { result, uncaught };
}

describe('frames (HTML §4.8.5)', () => {
    it('createElement("iframe"): in the document, a window of its own; removed, it is gone with its workers and locks', async () => {
        const { result } = await resultOf(`
            const frame = document.createElement('iframe');
            const results = [frame.contentWindow];
            document.body.appendChild(frame);
            const inner = frame.contentWindow;
            results.push(inner.location.href, inner.origin === origin, inner.parent === window, inner.top === window, window[0] === inner, length, inner.frameElement === frame, document.getElementsByTagName('iframe')[0] === frame);
            results.push(inner.Window !== Window, inner instanceof inner.Window, inner.navigator !== navigator, inner.Storage !== Storage);
            const worker = new inner.Worker('data:text/javascript,navigator.locks.request("l", () => new Promise(() => postMessage("held")))');
            worker.onmessage = () => {
                const { navigator: gone } = inner;
                frame.remove();
                results.push(frame.contentWindow, inner.parent, inner.top, inner.closed, length, 0 in window);
                gone.locks.query().catch((error) => results.push(error.name)).then(() => navigator.locks.request('l', () => resolve(results)));
            };`);
        const opened = [null, 'about:blank', true, true, true, true, 1, true, true, true, true, true, true];
        assert.deepEqual(result, [...opened, null, null, null, true, 0, false, 'InvalidStateError']);
    });

    it('sandbox: of an opaque origin, without storages, locks, databases and others’ channels (§7.1.6)', async () => {
        const names = async (/** @type {string} */ sandbox) => {
            const { result } = await resultOf(`
                const frame = document.createElement('iframe');
                ${sandbox}
                frame.srcdoc = '<script>onmessage = async () => {' +
                    'const results = [origin, frameElement === null];' +
                    'for (const one of [() => localStorage.length, () => sessionStorage.length, () => indexedDB.open("d"), () => indexedDB.databases(), () => navigator.locks.query(), () => navigator.locks.request("-", () => {})])' +
                    '    try { await one(); results.push("fine"); } catch ({ name }) { results.push(name); }' +
                    'const mine = new BroadcastChannel("c"); new BroadcastChannel("c").onmessage = ({ origin }) => results.push("mine " + origin); mine.postMessage("from the frame");' +
                    'parent.localStorage.setItem("k", "v"); onstorage = () => results.push("storage");' +
                    'setTimeout(() => parent.postMessage(results, parent.origin), 10); }</' + 'script>';
                const received = [];
                new BroadcastChannel('c').onmessage = ({ data }) => received.push(data);
                addEventListener('message', ({ data, origin }) => resolve([frame.contentDocument === null, origin, ...received, ...data]));
                frame.onload = () => { frame.contentWindow.postMessage('no', location.origin + '1'); frame.contentWindow.postMessage('go', '*'); setTimeout(resolve, 100, 'silent'); };
                document.body.append(frame);`);
            return result;
        };
        const own = 'https://example.test';
        const open = [
            false,
            own,
            'from the frame',
            own,
            false,
            'fine',
            'fine',
            'fine',
            'fine',
            'fine',
            'NotSupportedError',
            `mine ${own}`,
            'storage',
        ];
        assert.deepEqual(await names(''), open);
        assert.deepEqual(await names('frame.sandbox = "allow-scripts ALLOW-same-origin";'), open);
        const refused = Array.from({ length: 6 }, () => 'SecurityError');
        assert.deepEqual(await names('frame.sandbox = "allow-scripts";'), [
            true,
            'null',
            'null',
            true,
            ...refused,
            'mine null',
        ]);
        assert.equal(await names('frame.sandbox = "allow-same-origin";'), 'silent');
    });

    it('srcdoc and blobs: their scripts run in the frame; load is fired; its messages have a source', async () => {
        for (const seed of [undefined, 3, 8]) {
            const { result, uncaught } = await resultOf(
                `
                const html = '<script>addEventListener("message", ({ data, source }) => source.postMessage([data, location.protocol], "*"))</' + 'script>';
                const results = [];
                const url = URL.createObjectURL(new Blob([html], { type: 'text/html' }));
                for (const member of ['srcdoc', 'src']) {
                    const frame = document.createElement('iframe');
                    frame[member] = member === 'src' ? url : html;
                    frame.onload = () => frame.contentWindow.postMessage(member, '*');
                    document.body.append(frame);
                }
                addEventListener('message', ({ data, source, origin: from, isTrusted }) => {
                    results.push([...data, [...document.body.children].findIndex(({ contentWindow }) => contentWindow === source), from === origin, isTrusted].join());
                    if (results.length === 2) resolve(results.sort());
                });`,
                { ...(seed && { seed }) },
            );
            assert.deepEqual(
                [result, uncaught],
                [['src,blob:,1,true,true', 'srcdoc,about:,0,true,true'], []],
            );
        }
    });

    it('navigated, a frame has another window, and releases its locks', async () => {
        const { result } = await resultOf(`
            const frame = document.createElement('iframe');
            document.body.append(frame);
            const before = frame.contentWindow;
            before.navigator.locks.request('l', () => new Promise(() => { setTimeout(() => { frame.src = 'about:blank'; }); }));
            setTimeout(() => navigator.locks.request('l', () => resolve([before.closed, frame.contentWindow !== before])), 1);`);
        assert.deepEqual(result, [true, true]);
    });

    it('an address that is none, or empty, leaves about:blank', async () => {
        const { result } = await resultOf(`
            const results = [];
            for (const src of ['http://[', '']) {
                const frame = document.createElement('iframe');
                frame.src = src;
                frame.onload = () => results.push(frame.contentWindow.location.href);
                document.body.append(frame);
                frame.src = src;
            }
            resolve(results);`);
        assert.deepEqual(result, Array(4).fill('about:blank'));
    });

    it('storage events: every frame receives one, of its own interface, with the writer’s address (§12.2.1)', async () => {
        const { result } = await resultOf(`
            const frame = document.createElement('iframe');
            document.body.append(frame);
            const inner = frame.contentWindow;
            onstorage = ({ url, isTrusted }) => resolve([url, isTrusted]);
            inner.onstorage = (event) => { if (event instanceof inner.StorageEvent && event.storageArea === inner.localStorage && event.url === location.href) inner.localStorage.b = 2; };
            localStorage.a = 1;`);
        assert.deepEqual(result, ['about:blank', true]);
    });
});

describe('handlers of a page', () => {
    it('the body’s are its window’s, by property and by attribute; window.event is the listener’s (HTML §8.1.8.2, DOM §2.10)', async () => {
        const { result, uncaught } = await resultOf(`
            const frame = document.createElement('iframe');
            document.body.append(frame);
            const results = ['event' in window, window.event];
            const handler = () => {};
            document.body.onstorage = handler;
            results.push(onstorage === handler, document.head.onstorage);
            document.body.setAttribute('onstorage', 'results.push(event === window.event, event.key, this === window)');
            window.results = results;
            addEventListener('storage', () => dispatchEvent(new Event('inner')));
            addEventListener('inner', () => results.push(window.event.type));
            addEventListener('storage', () => {
                results.push(window.event.type);
                document.body.removeAttribute('onstorage');
                results.push(onstorage);
                document.body.setAttribute('onstorage', 'no script');
                setTimeout(() => resolve([...results, window.event, onstorage]));
            });
            frame.contentWindow.localStorage.k = 'v';`);
        assert.deepEqual(result, [
            true,
            undefined,
            true,
            undefined,
            true,
            'k',
            true,
            'inner',
            'storage',
            null,
            undefined,
            null,
        ]);
        assert.deepEqual(
            uncaught.map((error) => /** @type {Error} */ (error).name),
            ['SyntaxError'],
        );
    });

    it('elements and texts: what testharness.js shows its results with (DOM §4)', async () => {
        const { result, uncaught } = await resultOf(`
            const log = document.createElementNS('http://www.w3.org/1999/xhtml', 'div');
            log.id = 'log';
            document.body.appendChild(log).append(document.createTextNode('a'), 'b');
            const results = [log.textContent, log.childNodes.length, log.firstChild.data, log.children.length, log.ownerDocument === document];
            while (log.lastChild) log.removeChild(log.lastChild);
            log.textContent = 'Running';
            const span = document.createElement('span');
            span.setAttribute('class', 'one two');
            log.insertBefore(span, log.firstChild);
            span.textContent = 'pass: ';
            results.push(document.body.textContent, log.children.length, document.querySelector('ul, body span.two[class]') === span);
            results.push(document.querySelectorAll('#log *').length, log.querySelector('div'), document.querySelectorAll('html body').length, document.querySelector('span div'));
            for (const selector of ['a > b', '', ':root']) { try { document.querySelector(selector); } catch ({ name }) { results.push(name); } }
            log.textContent = '';
            results.push(span.isConnected, span.parentNode, log.firstChild);
            resolve(results);`);
        assert.deepEqual(
            [result, uncaught],
            [
                [
                    'ab',
                    2,
                    'a',
                    0,
                    true,
                    'pass: Running',
                    1,
                    true,
                    1,
                    null,
                    1,
                    null,
                    'SyntaxError',
                    'SyntaxError',
                    'SyntaxError',
                    false,
                    null,
                    null,
                ],
                [],
            ],
        );
    });

    it('the handlers that the body of a srcdoc has as attributes are its window’s', async () => {
        const { result } = await resultOf(`
            const frame = document.createElement('iframe');
            frame.srcdoc = '<head><script>function received(e) { parent.postMessage([e.key, window.early], "*"); }</' + 'script></head>' +
                "<body class=page onstorage='received(event)' id=b><script>early = document.getElementById('b').getAttribute('class')</" + 'script></body>';
            onmessage = ({ data }) => resolve(data);
            frame.onload = () => { localStorage.k = 'v'; };
            document.body.append(frame);`);
        assert.deepEqual(result, ['k', 'page']);
    });

    it('createEvent(): what init…Event() fills in (DOM §4.5)', async () => {
        const { result } = await resultOf(`
            const event = document.createEvent('StorageEvent');
            const results = [event instanceof StorageEvent, event.type];
            event.initStorageEvent('storage', false, false, 'k', null, 'v', 'u', localStorage);
            onstorage = ({ key, storageArea }) => results.push(key, storageArea === localStorage);
            dispatchEvent(event);
            for (const name of ['storageevent', 'Event', 'HTMLEvents', 'CustomEvent', 'MessageEvent']) results.push(document.createEvent(name).constructor.name);
            for (const name of ['LockEvent', 'constructor']) { try { document.createEvent(name); } catch ({ name }) { results.push(name); } }
            resolve(results);`);
        const names = [
            'StorageEvent',
            'Event',
            'Event',
            'CustomEvent',
            'MessageEvent',
            'NotSupportedError',
            'NotSupportedError',
        ];
        assert.deepEqual(result, [true, '', 'k', true, ...names]);
    });
});

describe('workers (HTML §10.2)', () => {
    it('a worker of a blob: or data: URL receives a message that is posted before its script runs, under any seed', async () => {
        for (let seed = 0; seed < 12; ++seed) {
            const { result } = await resultOf(
                `
                const script = 'onmessage = ({ data }) => postMessage([data, name, typeof window, typeof localStorage])';
                const results = [];
                for (const url of [URL.createObjectURL(new Blob([script])), 'data:,' + encodeURIComponent(script), 'data:text/javascript;base64,' + btoa(script)]) {
                    const worker = new Worker(url, { name: 'w' });
                    worker.postMessage('first');
                    worker.onmessage = ({ data, origin: from }) => (results.push([...data, from].join()), results.length === 3 && resolve(results));
                }`,
                { seed },
            );
            assert.deepEqual(
                result,
                Array.from({ length: 3 }, () => 'first,w,undefined,undefined,'),
            );
        }
    });

    it('an error there is reported to its owner, and then to the owner’s window (§8.1.4.3); what is not here is an error', async () => {
        const { result, uncaught } = await resultOf(`
            const worker = new Worker('data:,onmessage = ({ data }) => { throw new Error(data); }');
            const results = [];
            worker.onerror = (event) => { results.push(event instanceof ErrorEvent, event.message, event.error); if (event.message.endsWith('one')) event.preventDefault(); };
            worker.postMessage('one');
            worker.postMessage('two');
            new Worker('nowhere.js').onerror = (event) => { results.push(event.type); setTimeout(resolve, 9, results); };`);
        assert.deepEqual(
            [...result].sort(),
            [true, 'Uncaught Error: one', null, true, 'Uncaught Error: two', null, 'error'].sort(),
        );
        assert.deepEqual(uncaught.map(String), ['Error: two']);
    });

    it('a data: URL keeps a stray percent sign, and broken base64 in it is a network error (Fetch §6)', async () => {
        const { result } = await resultOf(`
            const results = [];
            const script = 'data:,postMessage([5%4,"100%","%C3%A9%2"].join())';
            new Worker(script).onmessage = ({ data }) => results.push(data);
            new Worker('data:;base64,§').onerror = ({ type }) => results.push(type);
            new Worker("data:,try{importScripts('data:;base64,%25')}catch({name}){postMessage(name)}").onmessage = ({ data }) => results.push(data);
            setTimeout(resolve, 9, results);`);
        assert.deepEqual([...result].sort(), ['1,100%,é%2', 'NetworkError', 'error']);
    });

    it('nested ones end with theirs; close() lets the turn end', async () => {
        const { result } = await resultOf(`
            const worker = new Worker('data:,' + encodeURIComponent('new Worker("data:,navigator.locks.request(\\'l\\', () => new Promise(() => postMessage(0)))").onmessage = () => { close(); postMessage(self.name); }'));
            worker.onmessage = ({ data }) => navigator.locks.request('l', () => resolve([data]));`);
        assert.deepEqual(result, ['']);
    });
});

describe('windows', () => {
    it('a pop-up of a URL is loaded, in a task of its own', async () => {
        const { result } = await resultOf(`
            const results = [];
            const [popup, blank] = [open('page.html'), open('')];
            popup.onload = ({ isTrusted, target }) => results.push('load', isTrusted, target === popup);
            blank.onload = () => results.push('never');
            results.push('opened');
            setTimeout(resolve, 1, results);`);
        assert.deepEqual(result, ['opened', 'load', true, true]);
    });

    it('the opener of a pop-up is the frame that opened it, for as long as it is there (HTML §7.2.2.1)', async () => {
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

    it('open(): a name that is taken, a keyword, about:blank (§7.3.1.7)', async () => {
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

    it('onerror has five arguments, and true handles; microtasks and reportError() report (§8.1.4.3, §8.1.8.1)', async () => {
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

    it('ports are on the schedule: time waits for them; they go over, and keep what was on its way (§9.4)', async () => {
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

    it('transferred while it is started, a port loses and reorders nothing (§9.4.4)', async () => {
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

    it('closed, a port is detached, and its peer receives `close` after what was posted, wherever it is (§9.4.4)', async () => {
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

    it('a thrown value that cannot be converted to a string is reported all the same, and the tab goes on', async () => {
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

    it('an error while an error is handled is nobody’s to handle', async () => {
        const { result, uncaught } = await resultOf(`
            addEventListener('error', () => { throw new Error('b'); });
            setTimeout(() => { throw new Error('a'); });
            setTimeout(resolve, 1, 'goes on');`);
        assert.deepEqual([result, uncaught.map(String)], ['goes on', ['Error: b', 'Error: a']]);
    });

    it('beforeunload is a BeforeUnloadEvent, of which what a handler returns is the returnValue (§7.4.3)', async () => {
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

    it('MessageEvent and ErrorEvent: their members, in the order of their names (Web IDL §3.2.17)', async () => {
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

    it('operations have names and lengths, and refuse at once; what cannot be cloned is a DataCloneError', async () => {
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
