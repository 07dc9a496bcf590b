/**
 * For emcc: makes threads notify the glue's mailbox by messages. Emscripten's own way, an
 * Atomics.waitAsync() without an end, would keep the memory of every threads() for as long as its page lives.
 */

/* global addToLibrary */

addToLibrary({ $waitAsyncPolyfilled: '=true' });
