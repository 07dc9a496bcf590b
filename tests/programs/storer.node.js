import { parentPort } from 'node:worker_threads';
import { attach } from 'tabacus/worker';
import { storer } from './storer.js';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const answer = storer(attach, (message) => port.postMessage(message));
port.on('message', (message) => void answer(message));
