/**
 * Two tabs refresh a token, encrypt it and pack it. The one whose cipher is ready last writes last, although the other
 * one may have refreshed later.
 */

/** @type {import('tabacus/emulator').Scenario} */
export const scenario = async ({ window }) => {
    const { crypto, localStorage, navigator } = window;
    const version = await navigator.locks.request('refresh', () => {
        const next = Number(localStorage.getItem('version')) + 1;
        localStorage.setItem('version', `${next}`);
        return next;
    });
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, false, ['encrypt']);
    const token = new window.TextEncoder().encode(`token ${version}`);
    const cipher = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, token);
    const packed = new window.Blob([cipher]).stream().pipeThrough(new window.CompressionStream('gzip'));
    await new window.Response(packed).arrayBuffer();
    localStorage.setItem('token', `${version}`);
};

/** @type {import('tabacus/emulator').ExploreOptions['invariant']} */
export const invariant = ({ origin }) => {
    const { localStorage } = origin.openTab().window;
    const version = localStorage.getItem('token');
    return (
        version === localStorage.getItem('version') || `the token of refresh ${version} is not the latest one`
    );
};

export const options = { seeds: 200, storage: 'mutexed' };
