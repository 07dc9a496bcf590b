/** The platform's UTF-8. Functions, since importing a module takes nothing of the platform, which may lack it. */

export const textEncoder = () => new TextEncoder();

/** U+FEFF may begin a name, too. */
export const textDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
