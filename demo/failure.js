/**
 * Shows what keeps the page from working. A classic script, ahead of the page's module: if that, or
 * anything that it imports, cannot be loaded, none of it ever runs, and only its element receives an event.
 */

addEventListener(
    'error',
    (event) => {
        const { target } = event;
        const unloaded =
            target instanceof HTMLScriptElement && `${target.src}, or what it needs, could not be loaded`;
        // What a browser warns of by an event (ResizeObserver's loops) has no error.
        const failed = event instanceof ErrorEvent && event.error && (event.error.message ?? event.error);
        const notice = document.querySelector('#failure');
        if (!notice || !(unloaded || failed)) return;
        notice.textContent = `This page failed: ${unloaded || failed}`;
        notice.removeAttribute('hidden');
    },
    // An element's error does not bubble.
    true,
);
