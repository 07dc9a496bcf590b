/**
 * The layout of the cells of a counter over tabs: offsets, in bytes, that JavaScript and C++
 * (wasm/include/tabacus/sync/tab_cells.hpp) share.
 */
export const cellsFields = Object.freeze({ changes: 0, nameUnits: 4, name: 8 });
