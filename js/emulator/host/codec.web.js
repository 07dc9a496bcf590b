/** Compresses and decompresses by the streams of the host. */

import { hostTask } from '../common/host-task.js';

/**
 * @param {'CompressionStream' | 'DecompressionStream'} name
 * @param {string} format
 * @returns {import('./compression-streams.js').Codec}
 * @throws {TypeError} if the host does not know the format
 */
export function codecOf(name, format) {
    const { readable, writable } = new globalThis[name](/** @type {CompressionFormat} */ (format));
    const writer = writable.getWriter();
    const reader = /** @type {ReadableStreamDefaultReader<Uint8Array>} */ (readable.getReader());
    /** @type {Uint8Array[]} */
    const chunks = [];
    const read = async () => {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            chunks.push(value);
        }
    };
    const ended = read();
    ended.catch(() => {});
    writer.closed.catch(() => {});
    return {
        async transform(bytes) {
            await writer.write(/** @type {any} */ (bytes));
            await /** @type {Promise<void>} */ (new Promise((resolve) => hostTask(resolve, true)));
            return chunks.splice(0);
        },
        async flush() {
            await writer.close();
            await ended;
            return chunks.splice(0);
        },
    };
}
