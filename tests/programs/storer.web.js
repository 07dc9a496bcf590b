// @ts-ignore: served by the tests' server
import { attach } from '/dist/web/tabacus-worker.js';
import { storer } from './storer.js';

let heard = 0;
addEventListener('storage', () => heard++);

const obey = storer(attach, (message) => postMessage(message));
onmessage = ({ data }) => (data.order === 'heardBySelf' ? postMessage({ value: heard }) : void obey(data));
