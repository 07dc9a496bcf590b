/**
 * Declarations that tsc wrote, changed so that they are valid from TypeScript 5.2 on, and in a project without the DOM
 * library: a project of a server, say, that imports the package for its types.
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

/** An empty interface is merged with that of a library which has it. */
const PLATFORM = `/** What the declarations of this package name, for projects whose libraries lack it. */
declare global {
${INTERFACES.map((name) => `    interface ${name} {}\n`).join('')}    namespace WebAssembly {
        interface Memory {}
        interface Module {}
    }
}
/** What the platform has by a name. */
export type Platform<Name extends string, Else = any> = typeof globalThis extends { [One in Name]: infer Value }
    ? Value
    : Else;
export declare const PlatformEventTarget: Platform<'EventTarget', new () => EventTarget>;
export declare const PlatformEvent: Platform<'Event', new (type: string, init?: object) => Event>;
`;

/** TypeScript 5.7 made them generic. */
const genericArray = /\b((?:Uint|Int|Float|BigInt|BigUint)(?:8|16|32|64)(?:Clamped)?Array|DataView)<\w+>/g;

/** Aliases, which only the DOM library has, cannot be merged with: what they stand for is written instead. */
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

/** @param {string} folder of declarations, each of whose modules at the top may be the only one that is imported */
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
