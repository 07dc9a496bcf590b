import { TextDecoder, TextEncoder } from 'node:util';

/** From Node's module and not of the global object, which has neither under Jest with jsdom. */
export const textEncoder = () => new TextEncoder();

export const textDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
