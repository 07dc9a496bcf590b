/**
 * For emcc: makes the emulator's texts keep lone surrogates, which a DOMString may have (Infra §4.7). A
 * TextDecoder would replace them. If there is none, Emscripten's glue copies texts unit by unit.
 */

/* global addToLibrary */

addToLibrary({ $UTF16Decoder: 'undefined' });
