// @ts-ignore: served by the tests' server
import { attach } from '/dist/web/tabacus-worker.js';
import { storer } from './storer.js';

const obey = storer(attach, (message) => postMessage(message));
onmessage = ({ data }) => void obey(data);
