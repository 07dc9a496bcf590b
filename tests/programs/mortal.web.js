// @ts-ignore: served by the tests' server
import { attach } from '/dist/web/tabacus-worker.js';
// @ts-ignore: served by the tests' server
import { seededRandom } from '/seeded-random.js';
import { live } from './mortal.js';

onmessage = ({ data }) => void live(attach, seededRandom(data.seed), data);
