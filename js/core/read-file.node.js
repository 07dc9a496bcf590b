import { readFile } from 'node:fs/promises';

/**
 * Node's fetch() knows no files.
 *
 * @param {string} address
 * @returns {Promise<Uint8Array<ArrayBuffer>> | undefined} nothing: it is no file's
 */
export const readFileAt = (address) =>
    address.startsWith('file:')
        ? readFile(new URL(address)).then((bytes) => new Uint8Array(bytes))
        : undefined;
