/** The fixed memory that a program with threads is linked for (cmake/wasm.cmake), in pages of 64 KiB. */
export const PAGES = 512;
