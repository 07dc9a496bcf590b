/** The thread that started this one. */

import { parentPort } from 'node:worker_threads';

/** @param {(message: any) => void} receive is called with each message of the parent */
export const onParent = (receive) => void parentPort?.on('message', receive);

/** @param {unknown} message */
export const postToParent = (message) => void parentPort?.postMessage(message);
