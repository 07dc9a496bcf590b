import { TextDecoder, TextEncoder } from 'node:util';

/** Makes the encoder of Node's module, because the global object has neither class under Jest with jsdom. */
export const textEncoder = () => new TextEncoder();

export const textDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
