/** A thread of Node that runs seeds. */

import { Worker } from 'node:worker_threads';
import { TabacusError } from '../../common/errors.js';

/** The options of Node that belong to the main program, which is no module of a thread. */
const ofProgram = /^(-e|-p|-pe|--eval|--print|--input-type)\b/;

/** The options of Node for a thread, without those of the main program and their values. */
function execArgv() {
    const { execArgv: given } = process;
    const program = given.findIndex((option) => ofProgram.test(option));
    return program < 0 ? given : given.filter((option) => /^--(?!eval|print|input-type)/.test(option));
}

/**
 * Starts a thread.
 *
 * @param {(message: any) => void} receive is called with each message
 * @param {(error: unknown) => void} fail is called if the thread fails or ends by itself
 * @returns {{ post: (message: unknown) => void, end: () => Promise<unknown> }} `end`: ends the thread
 */
export function openThread(receive, fail) {
    const worker = new Worker(new URL('./emulator-worker.js', import.meta.url), { execArgv: execArgv() });
    worker.on('message', receive);
    worker.on('messageerror', fail);
    worker.on('error', fail);
    worker.on('exit', (code) => fail(ended(code)));
    return {
        post: (message) => worker.postMessage(message),
        end: () => worker.terminate(),
    };
}

/** @param {number} code */
const ended = (code) =>
    new TabacusError(
        'unavailable',
        `a thread of explore() ended with code ${code}: leave out workers to see what its scenario does`,
    );
