// @ts-ignore: served by the tests' server
import { attach } from '/dist/web/tabacus-worker.js';
import { storer } from './storer.js';

let events = 0;
addEventListener('storage', () => events++);

const answer = storer(attach, (message) => postMessage(message));
onmessage = ({ data }) =>
    data.method === 'eventsOfSelf' ? postMessage({ value: events }) : void answer(data);
