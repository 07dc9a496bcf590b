/** Whether the load of a file of the package may never end. A page loads each file from a server. */
export const mayHang = (/** @type {string} */ _address = '') => true;
