/** Frames that a page opens, and workers: how their global objects refer to each other. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resultOf } from './script-result.js';

describe('frames (HTML §4.8.5)', () => {
    it('an iframe has a window of its own while it is in the document, and loses its workers and locks when it is removed', async () => {
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

    it('a sandboxed frame has an opaque origin, without storages, locks, databases and the channels of others (§7.1.6)', async () => {
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

    it('scripts of srcdoc and of blobs run in the frame, load is fired, and messages of the frame have a source', async () => {
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

    it('a frame that is navigated has another window, and releases its locks', async () => {
        const { result } = await resultOf(`
            const frame = document.createElement('iframe');
            document.body.append(frame);
            const before = frame.contentWindow;
            before.navigator.locks.request('l', () => new Promise(() => { setTimeout(() => { frame.src = 'about:blank'; }); }));
            setTimeout(() => navigator.locks.request('l', () => resolve([before.closed, frame.contentWindow !== before])), 1);`);
        assert.deepEqual(result, [true, true]);
    });

    it('a frame whose address is invalid or empty stays at about:blank', async () => {
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

    it('every frame receives a storage event of its own interface, with the address of the writer (§12.2.1)', async () => {
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

describe('workers (HTML §10.2)', () => {
    it('a worker runs the script of a blob: or data: URL, and a message that is posted at once waits for it, under any seed', async () => {
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

    it('an error in a worker is reported to its owner, and then to the window of the owner (§8.1.4.3), and a script that cannot be loaded fires error', async () => {
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

    it('in a data: URL a stray percent sign stays, and broken base64 is a network error (Fetch §6)', async () => {
        const { result } = await resultOf(`
            const results = [];
            const script = 'data:,postMessage([5%4,"100%","%C3%A9%2"].join())';
            new Worker(script).onmessage = ({ data }) => results.push(data);
            new Worker('data:;base64,§').onerror = ({ type }) => results.push(type);
            new Worker("data:,try{importScripts('data:;base64,%25')}catch({name}){postMessage(name)}").onmessage = ({ data }) => results.push(data);
            setTimeout(resolve, 9, results);`);
        assert.deepEqual([...result].sort(), ['1,100%,é%2', 'NetworkError', 'error']);
    });

    it('a nested worker ends with its owner, and close() lets the turn end', async () => {
        const { result } = await resultOf(`
            const worker = new Worker('data:,' + encodeURIComponent('new Worker("data:,navigator.locks.request(\\'l\\', () => new Promise(() => postMessage(0)))").onmessage = () => { close(); postMessage(self.name); }'));
            worker.onmessage = ({ data }) => navigator.locks.request('l', () => resolve([data]));`);
        assert.deepEqual(result, ['']);
    });
});
