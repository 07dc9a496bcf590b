/**
 * CompressionStream and DecompressionStream of a context (Compression Standard §5, §6). The host transforms each chunk,
 * and the result is delivered on the schedule.
 */

import { idlInterface, requireArguments } from '../../platform/web-idl.js';
import { codecOf } from './codec.web.js';
import { tracked } from './host-work.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * A codec of the host, which transforms bytes. Both functions resolve to the resulting chunks.
 *
 * @typedef {{ transform: (bytes: Uint8Array) => Promise<Uint8Array[]>, flush: () => Promise<Uint8Array[]> }} Codec
 */

/** A copy of the bytes of a BufferSource, which the tab may change afterwards. @param {any} chunk */
function bytesOf(chunk) {
    const isView = ArrayBuffer.isView(chunk);
    if (
        !(isView ? chunk.buffer : chunk instanceof ArrayBuffer) ||
        (isView && !(chunk.buffer instanceof ArrayBuffer))
    )
        throw new TypeError('the chunk is not an ArrayBuffer or a view of one');
    return isView
        ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength).slice()
        : new Uint8Array(chunk).slice();
}

/** An error of the data is a TypeError. @param {any} error @returns {never} */
function refused(error) {
    throw error instanceof TypeError ? error : new TypeError(`${error?.message ?? error}`, { cause: error });
}

/**
 * Returns a function that makes the interface.
 *
 * @param {'CompressionStream' | 'DecompressionStream'} name
 * @returns {(context: Context) => any}
 */
export const compressionInterface = (name) => (context) => {
    class CodecStream {
        #pair;

        /** @param {any} format */
        constructor(format) {
            requireArguments(`construct '${name}'`, arguments, 1);
            const codec = codecOf(name, `${format}`);
            /** @param {Promise<Uint8Array[]>} work @param {TransformStreamDefaultController} controller */
            const pass = async (work, controller) => {
                const chunks = await tracked(context, work, `a chunk of ${name}`).catch(refused);
                for (const chunk of chunks) controller.enqueue(chunk);
            };
            this.#pair = new TransformStream({
                transform: async (chunk, controller) => pass(codec.transform(bytesOf(chunk)), controller),
                flush: (controller) => pass(codec.flush(), controller),
            });
        }

        get readable() {
            return this.#pair.readable;
        }

        get writable() {
            return this.#pair.writable;
        }
    }
    return idlInterface(CodecStream, name, { length: 1 });
};
