/**
 * Shows the error that keeps the page from working. It is a classic script, and runs before the page's module: if the
 * module, or a module that it imports, cannot be loaded, none of its code runs, and only its element receives an
 * event.
 */

addEventListener(
    'error',
    (event) => {
        const { target } = event;
        const unloaded =
            target instanceof HTMLScriptElement && `${target.src}, or what it needs, could not be loaded`;
        // Events without an error are only warnings of the browser, for example of loops of ResizeObserver.
        const failed = event instanceof ErrorEvent && event.error && (event.error.message ?? event.error);
        const notice = document.querySelector('#failure');
        if (!notice || !(unloaded || failed)) return;
        notice.textContent = `This page failed: ${unloaded || failed}`;
        notice.removeAttribute('hidden');
    },
    // The error event of an element does not bubble, so it is caught while it travels down.
    true,
);
