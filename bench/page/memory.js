/** The size of the memory with which a program with threads is linked (cmake/wasm.cmake), in pages of 64 KiB. */
export const PAGES = 512;
