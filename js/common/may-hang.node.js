/**
 * Whether the load of a file of the package may never end. A read from the disk always ends.
 * @param {string} [address] by default that of this module
 */
export const mayHang = (address = import.meta.url) => !address.startsWith('file:');
