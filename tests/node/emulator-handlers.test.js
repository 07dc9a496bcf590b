/** Event handlers of a page, its elements, and events that scripts make. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resultOf } from './script-result.js';

describe('handlers of a page', () => {
    it('a handler that is set on the body, by property or attribute, is the window’s, and window.event is the event that is dispatched (HTML §8.1.8.2, DOM §2.10)', async () => {
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

    it('elements and texts have the members with which testharness.js shows its results (DOM §4)', async () => {
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

    it('the body of srcdoc has its attributes and its handlers', async () => {
        const { result } = await resultOf(`
            const frame = document.createElement('iframe');
            frame.srcdoc = '<head><script>function received(e) { parent.postMessage([e.key, window.early], "*"); }</' + 'script></head>' +
                "<body class=page onstorage='received(event)' id=b><script>early = document.getElementById('b').getAttribute('class')</" + 'script></body>';
            onmessage = ({ data }) => resolve(data);
            frame.onload = () => { localStorage.k = 'v'; };
            document.body.append(frame);`);
        assert.deepEqual(result, ['k', 'page']);
    });

    it('createEvent() makes an event that init…Event() initialises (DOM §4.5)', async () => {
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
