/** The URLs of blobs that a context has made. They end with it (File API §8.4). */

/** @typedef {import('../context.js').Context} Context */

/** The URLs by context. @type {WeakMap<Context, string[]>} */
const urls = new WeakMap();

/** The host's URL, whose createObjectURL() notes what it makes. @param {Context} context */
export const urlOf = (context) => {
    const createObjectURL = (/** @type {any[]} */ ...given) => {
        const url = URL.createObjectURL(.../** @type {[Blob]} */ (given));
        const made = urls.get(context) ?? [];
        made.push(url);
        urls.set(context, made);
        return url;
    };
    return new Proxy(URL, {
        get: (target, key, receiver) =>
            key === 'createObjectURL' ? createObjectURL : Reflect.get(target, key, receiver),
    });
};

/** Ends the URLs of a closed context, since the host would keep their blobs for ever. @param {Context} context */
export function revokeUrls(context) {
    for (const url of urls.get(context) ?? []) URL.revokeObjectURL(url);
    urls.delete(context);
}
