/** The properties that a global object takes from its host: those of the language, and interfaces without a state. */

/** The properties that every global object has (ECMAScript §19). Their values are those of the host. */
const LANGUAGE = [
    'AggregateError',
    'Array',
    'ArrayBuffer',
    'AsyncDisposableStack',
    'Atomics',
    'BigInt',
    'BigInt64Array',
    'BigUint64Array',
    'Boolean',
    'DataView',
    'DisposableStack',
    'Error',
    'EvalError',
    'FinalizationRegistry',
    'Float16Array',
    'Float32Array',
    'Float64Array',
    'Function',
    'Int16Array',
    'Int32Array',
    'Int8Array',
    'Intl',
    'Iterator',
    'JSON',
    'Map',
    'Number',
    'Object',
    'Promise',
    'Proxy',
    'RangeError',
    'ReferenceError',
    'Reflect',
    'RegExp',
    'Set',
    'SharedArrayBuffer',
    'String',
    'SuppressedError',
    'Symbol',
    'SyntaxError',
    'Temporal',
    'TypeError',
    'URIError',
    'Uint16Array',
    'Uint32Array',
    'Uint8Array',
    'Uint8ClampedArray',
    'WeakMap',
    'WeakRef',
    'WeakSet',
    'decodeURI',
    'decodeURIComponent',
    'encodeURI',
    'encodeURIComponent',
    'escape',
    'eval',
    'isFinite',
    'isNaN',
    'parseFloat',
    'parseInt',
    'unescape',
];

/** The constant properties of every global object (ECMAScript §19.1). */
const VALUES = { NaN: { value: NaN }, Infinity: { value: Infinity }, undefined: { value: undefined } };

/**
 * Returns the own properties that every global object has by ECMAScript §19.
 *
 * @returns {PropertyDescriptorMap}
 */
export function languageProperties() {
    const host = /** @type {any} */ (globalThis);
    const made = LANGUAGE.filter((name) => name in host).map((name) => [
        name,
        { value: host[name], writable: true, configurable: true },
    ]);
    return { ...Object.fromEntries(made), ...VALUES };
}

/** The interfaces that a tab takes from its host unchanged, since they have no state of their own. */
export const HOSTED = [
    'AbortController',
    'Blob',
    'ByteLengthQueuingStrategy',
    'CloseEvent',
    'CountQueuingStrategy',
    'CryptoKey',
    'CustomEvent',
    'DOMException',
    'Event',
    'EventSource',
    'EventTarget',
    'File',
    'FormData',
    'Headers',
    'ImageBitmap',
    'ReadableByteStreamController',
    'ReadableStream',
    'ReadableStreamBYOBReader',
    'ReadableStreamBYOBRequest',
    'ReadableStreamDefaultController',
    'ReadableStreamDefaultReader',
    'Request',
    'Response',
    'TextDecoder',
    'TextDecoderStream',
    'TextEncoder',
    'TextEncoderStream',
    'TransformStream',
    'TransformStreamDefaultController',
    'URLPattern',
    'URLSearchParams',
    'WebSocket',
    'WritableStream',
    'WritableStreamDefaultController',
    'WritableStreamDefaultWriter',
    'console',
];

/** The operations of the host. A page calls them with its own global object, so they are bound to the host's. */
export const HOSTED_OPERATIONS = ['atob', 'btoa'];
