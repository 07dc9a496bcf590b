/**
 * Changes the declarations that tsc wrote, so that they are valid from TypeScript 5.2 on, and in a project without the
 * DOM library, such as that of a server which imports the package for its types.
 */

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Interfaces of the platform that the declarations name. */
const INTERFACES = [
    'AbortController',
    'AbortSignal',
    'AddEventListenerOptions',
    'BroadcastChannel',
    'Crypto',
    'Event',
    'EventListenerOptions',
    'EventTarget',
    'HTMLIFrameElement',
    'IDBDatabase',
    'IDBFactory',
    'IDBTransaction',
    'Lock',
    'LockManager',
    'MessagePort',
    'TextDecoder',
    'URL',
    'Worker',
];

/** Declarations of empty interfaces. If a library has an interface of the name, TypeScript merges the two. */
const PLATFORM = `/** The interfaces that the declarations of this package name, for projects whose libraries lack them. */
declare global {
${INTERFACES.map((name) => `    interface ${name} {}\n`).join('')}    namespace WebAssembly {
        interface Memory {}
        interface Module {}
    }
}
/** The type of a global variable of the platform, or Else where it is missing. */
export type Platform<Name extends string, Else = any> = typeof globalThis extends { [One in Name]: infer Value }
    ? Value
    : Else;
export declare const PlatformEventTarget: Platform<'EventTarget', new () => EventTarget>;
export declare const PlatformEvent: Platform<'Event', new (type: string, init?: object) => Event>;
`;

/** The types that TypeScript 5.7 made generic. */
const genericArray = /\b((?:Uint|Int|Float|BigInt|BigUint)(?:8|16|32|64)(?:Clamped)?Array|DataView)<\w+>/g;

/** The type behind an alias of the DOM library. It replaces the alias, since aliases cannot be merged. */
const listener = '((event: Event) => void) | { handleEvent(event: Event): void }';

/**
 * @param {string} text of a declaration file
 * @param {string} platform the module to import from
 */
export function portable(text, platform) {
    const known = text
        .replace(genericArray, '$1')
        .replace(/\bEventListenerOrEventListenerObject\b/g, listener)
        .replace(/\bBufferSource\b/g, 'ArrayBuffer | ArrayBufferView')
        .replace(/\btypeof (IDBKeyRange|BroadcastChannel)\b/g, `import('${platform}').Platform<'$1'>`)
        .replace(/ extends (EventTarget|Event) \{/g, ' extends Platform$1 {');
    const bases = [...new Set(known.match(/\bPlatformEvent(Target)?\b/g) ?? [])];
    return bases.length > 0 ? `${known}import { ${bases.join(', ')} } from '${platform}';\n` : known;
}

/** Changes all declarations of a folder. A project may import any of its modules alone. @param {string} folder */
export function makePortable(folder) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!file.endsWith('.d.ts')) continue;
        const path = join(folder, file);
        const up = relative(dirname(path), folder) || '.';
        const platform = `${up}/platform.js`;
        const text = portable(readFileSync(path, 'utf8'), platform);
        const entry = dirname(path) === folder || dirname(file) === 'compat';
        writeFileSync(path, entry ? `${text}import '${platform}';\n` : text);
    }
    writeFileSync(join(folder, 'platform.d.ts'), PLATFORM);
}
