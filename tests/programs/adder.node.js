import { parentPort } from 'node:worker_threads';
import { attach } from 'tabacus/worker';
import { adder } from './adder.js';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
port.on(
    'message',
    adder(attach, (message) => port.postMessage(message)),
);
