/**
 * For emcc: the emulator's texts keep lone surrogates, which a DOMString may hold (Infra §4.7). TextDecoder
 * replaces them, and without it Emscripten's glue copies texts unit by unit.
 */

/* global addToLibrary */

addToLibrary({ $UTF16Decoder: 'undefined' });
