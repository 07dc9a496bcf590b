/** The platform's UTF-8. Functions, since importing a module takes nothing of the platform, which may lack it. */

import { requirePlatform } from '../common/require-platform.js';

export function textEncoder() {
    requirePlatform('open()', ['TextEncoder']);
    return new TextEncoder();
}

/** U+FEFF may begin a name, too. */
export function textDecoder() {
    requirePlatform('open()', ['TextDecoder']);
    return new TextDecoder('utf-8', { ignoreBOM: true });
}
