import { workerData } from 'node:worker_threads';
import { attach } from 'tabacus/worker';
import { seededRandom } from '../browser/page/seeded-random.js';
import { live, waitForDeaths } from './mortal.js';

if (workerData.waits) await waitForDeaths(attach, workerData);
else await live(attach, seededRandom(workerData.seed), workerData);
