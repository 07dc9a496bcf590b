// @ts-ignore: served by the tests' server
import { attach } from '/dist/web/tabacus-worker.js';
import { adder } from './adder.js';

const receive = adder(attach, (message) => postMessage(message));
onmessage = ({ data }) => void receive(data);
