import { workerData } from 'node:worker_threads';
import { live } from './mortal.js';

await live(workerData);
