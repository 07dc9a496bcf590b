import { workerData } from 'node:worker_threads';
import { attach } from 'tabacus/worker';
import { seededRandom } from '../browser/page/seeded-random.js';
import { live } from './mortal.js';

await live(attach, seededRandom(workerData.seed), workerData);
