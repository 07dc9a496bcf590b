/** Bounds the wait for a file of the package. */

import { mayHang } from './may-hang.web.js';

/**
 * How long a file may take to arrive. The files that an application loads have at most 100 KB, compressed. A
 * file that takes longer therefore arrives at less than 14 kbit/s, or never. A browser itself waits for a
 * silent server for minutes, or without limit.
 */
const arrival_ms = 60_000;

/**
 * Settles as `loading` does, or rejects after `arrival_ms`. A file of the disk has no bound. In a page that was frozen the
 * timer may fire before an answer that arrived meanwhile. The rejection waits for one more turn of the event loop, in which
 * an answer that is complete is used.
 *
 * @template File
 * @param {string | undefined} address undefined for a module of the package
 * @param {Promise<File>} loading
 * @param {(why: string) => Error} late makes the error
 * @param {Pick<typeof globalThis, 'setTimeout' | 'clearTimeout'>} [platform]
 * @returns {Promise<File>}
 */
export function withinArrival(address, loading, late, platform = globalThis) {
    if (!mayHang(address)) return loading;
    return new Promise((resolve, reject) => {
        const expire = () => reject(late('no answer within 60 s'));
        let timer = platform.setTimeout(() => (timer = platform.setTimeout(expire, 1)), arrival_ms);
        loading.then(resolve, reject).finally(() => platform.clearTimeout(timer));
    });
}
