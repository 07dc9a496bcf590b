// @ts-ignore: served by the tests' server
import { attach } from '/dist/web/tabacus-worker.js';
import { tabLocker } from './tab-locker.js';

const answer = tabLocker(attach, (message) => postMessage(message));
onmessage = ({ data }) => void answer(data);
