/** A module worker, dedicated or service, that runs the jobs of the namespace in its address. */

// @ts-ignore: served by the tests' site
import { open } from '/dist/web/tabacus-service-worker.js';

const opened = open({ namespace: new URL(location.href).searchParams.get('namespace') ?? '' });
opened.then((/** @type {import('tabacus').Tab} */ tab) =>
    tab.queue('q').handle((/** @type {any} */ { payload }) => payload + 1),
);

// A service worker lives while it has an event to answer.
addEventListener('message', (event) => {
    const { waitUntil } = /** @type {any} */ (event);
    waitUntil?.call(
        event,
        opened.then((/** @type {import('tabacus').Tab} */ tab) => tab.queue('q').onIdle()),
    );
});
