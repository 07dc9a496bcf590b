/**
 * The encoder and the decoder of the platform. They are made by functions, so that importing this module does
 * not fail on a platform that lacks them.
 */

import { requirePlatform } from '../common/require-platform.js';

export function textEncoder() {
    requirePlatform('open()', ['TextEncoder']);
    return new TextEncoder();
}

/** Makes a decoder that keeps U+FEFF at the beginning of a text: a name may begin with it. */
export function textDecoder() {
    requirePlatform('open()', ['TextDecoder']);
    return new TextDecoder('utf-8', { ignoreBOM: true });
}
