/** The fixed memory that the modules with threads are linked for (cmake/wasm.cmake), in pages of 64 KiB. */
export const PAGES = 512;
