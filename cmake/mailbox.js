/**
 * For emcc: other threads ring the glue's mailbox by messages. Emscripten's own choice, an
 * Atomics.waitAsync() without an end, keeps the memory of every threads() for as long as its page lives.
 */

/* global addToLibrary */

addToLibrary({ $waitAsyncPolyfilled: '=true' });
