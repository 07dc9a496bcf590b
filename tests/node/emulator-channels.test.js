/** The emulator's BroadcastChannel. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { isDom } from './expected-errors.js';

describe('BroadcastChannel (HTML §9.5)', () => {
    it('a message is cloned and reaches every other object of the name, in order, but not the sender', async () => {
        const origin = await createOrigin({ url: 'https://example.test/' });
        const [a, b] = [origin.openTab(), origin.openTab()];
        const worker = a.openWorker();
        const receivers = [a.window, a.window, b.window, worker.scope, a.openFrame().window].map(
            (scope) => new scope.BroadcastChannel('news'),
        );
        const stranger = new b.window.BroadcastChannel('other');
        stranger.onmessage = () => assert.fail('the channel has another name');
        /** @type {any[][]} */
        const received = receivers.map(() => []);
        receivers.forEach((channel, at) =>
            channel.addEventListener('message', (/** @type {any} */ event) => {
                assert.deepEqual(
                    [event.origin, event.target, event.ports.length],
                    ['https://example.test', channel, 0],
                );
                received[at]?.push(event.data);
            }),
        );
        const message = { at: new Date(1), map: new Map([[1, 2]]), text: '\uD800' };
        receivers[0].postMessage(message);
        message.text = 'changed after it was posted';
        receivers[0].postMessage(2);
        assert.deepEqual(received.flat(), []);
        await origin.settled();
        assert.deepEqual(received[0], []);
        for (const one of received.slice(1))
            assert.deepEqual(one, [{ at: new Date(1), map: new Map([[1, 2]]), text: '\uD800' }, 2]);
        assert.notEqual(received[1]?.[0], received[2]?.[0]);
        origin.close();
    });

    it('shared memory cannot be posted, because no emulated tab is cross-origin isolated (HTML §2.7.3)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const channel = new window.BroadcastChannel('n');
        const memory = new SharedArrayBuffer(4);
        for (const one of [memory, new Int32Array(memory), { in: [memory] }]) {
            assert.throws(() => channel.postMessage(one), isDom('DataCloneError'));
            assert.throws(() => window.structuredClone(one), isDom('DataCloneError'));
        }
        origin.close();
    });

    it('an exception is cloned with its name and message, wherever it is in the value (Web IDL §2.8.2)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const { QuotaExceededError, MessageChannel } = window;
        const aborted = new DOMException('m', 'AbortError');
        const message = () => ({
            aborted,
            in: [new Map([[1, new QuotaExceededError('full', { quota: 5, requested: 7 })]]), aborted],
        });
        /** @type {any[]} */
        const received = [];
        const receive = (/** @type {any} */ { data }) => received.push(data);
        const { port1, port2 } = new MessageChannel();
        for (const receiver of [new (origin.openTab().window.BroadcastChannel)('n'), window, port2])
            receiver.onmessage = receive;
        new window.BroadcastChannel('n').postMessage(message());
        window.postMessage(message());
        const { port1: port } = new MessageChannel();
        port1.postMessage({ ...message(), port }, [port]);
        await origin.settled();
        received.push(window.structuredClone(message()));
        assert.equal(received.length, 4);
        for (const {
            aborted: one,
            in: [map, same],
        } of received) {
            assert.ok(isDom('AbortError')(one) && one !== aborted && one.message === 'm');
            assert.equal(same, one);
            const full = map.get(1);
            assert.ok(full instanceof QuotaExceededError);
            assert.deepEqual(
                [full.name, full.message, full.quota, full.requested],
                ['QuotaExceededError', 'full', 5, 7],
            );
        }
        assert.equal(window.structuredClone(aborted).name, 'AbortError');
        origin.close();
    });

    it('the channels of one agent receive in the order of their making, and messages arrive in the order of the posts', async () => {
        const origin = await createOrigin({ seed: 3 });
        const { BroadcastChannel } = origin.openTab().window;
        const [first, second, third] = ['n', 'n', 'n'].map((name) => new BroadcastChannel(name));
        /** @type {string[]} */
        const order = [];
        for (const [name, channel] of Object.entries({ first, second, third }))
            channel.onmessage = (/** @type {any} */ event) => order.push(`${name} ${event.data}`);
        first.postMessage('from first');
        third.postMessage('from third');
        await origin.settled();
        assert.deepEqual(order, [
            'second from first',
            'third from first',
            'first from third',
            'second from third',
        ]);
        origin.close();
    });

    it('a closed channel throws InvalidStateError when it posts, and receives no message that was on its way', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab().window, origin.openTab().window];
        const [sender, receiver] = [new a.BroadcastChannel('n'), new b.BroadcastChannel('n')];
        receiver.onmessage = () => assert.fail('the channel is closed');
        sender.postMessage(1);
        receiver.close();
        receiver.close();
        await origin.settled();
        assert.throws(() => receiver.postMessage(1), isDom('InvalidStateError'));
        let again = 0;
        new b.BroadcastChannel('n').onmessage = () => ++again;
        sender.postMessage(2);
        await origin.settled();
        assert.equal(again, 1);
        origin.close();
    });

    it('the name of a channel is required and becomes a string, and a message that cannot be cloned is a DataCloneError at once', async () => {
        const origin = await createOrigin();
        const { BroadcastChannel } = origin.openTab().window;
        assert.throws(() => new BroadcastChannel(), TypeError);
        assert.throws(() => BroadcastChannel('n'), TypeError);
        assert.deepEqual(
            [null, undefined, 1].map((name) => new BroadcastChannel(name).name),
            ['null', 'undefined', '1'],
        );
        const channel = new BroadcastChannel('n');
        assert.throws(() => channel.postMessage(), TypeError);
        assert.throws(() => channel.postMessage(Symbol('s')), isDom('DataCloneError'));
        assert.throws(() => channel.postMessage(() => {}), isDom('DataCloneError'));
        assert.deepEqual([channel.onmessage, channel.onmessageerror], [null, null]);
        assert.ok(channel instanceof EventTarget);
        origin.close();
    });

    it('a frozen tab receives messages when it is resumed, and a page in the back/forward cache never does', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        /** @type {number[]} */
        const received = [];
        const channel = new b.window.BroadcastChannel('n');
        channel.onmessage = (/** @type {any} */ event) => received.push(event.data);
        const sender = new a.window.BroadcastChannel('n');
        b.freeze();
        sender.postMessage(1);
        await origin.settled();
        assert.deepEqual(received, []);
        b.thaw();
        await origin.settled();
        assert.deepEqual(received, [1]);
        assert.equal(await b.bfcache(), true);
        sender.postMessage(2);
        await origin.settled();
        b.thaw();
        sender.postMessage(3);
        await origin.settled();
        assert.deepEqual(received, [1, 3]);
        origin.close();
    });
});
