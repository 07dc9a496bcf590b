import { StrictMode, Suspense, use, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { open } from 'tabacus';

const opened = open({ namespace: 'example' });

/** The value of a counter, and every change that any tab makes. */
const useCount = (counter) =>
    useSyncExternalStore(
        (changed) => counter.subscribe(changed),
        () => counter.value,
    );

function Clicks() {
    const tab = use(opened);
    const clicks = tab.counter('clicks');
    const count = useCount(clicks);
    const [lock, setLock] = useState('free');
    const run = () => tab.lock('door').run(({ token }) => setLock(`held once, with token ${token}`));
    return (
        <main>
            <h1>One counter in every tab</h1>
            <output id="count">{count}</output>
            <p>
                <button id="add" onClick={() => clicks.add()}>
                    Add one
                </button>{' '}
                <button id="run" onClick={run}>
                    Take the lock
                </button>
            </p>
            <p>
                The lock: <span id="lock">{lock}</span>. Open this page in a second tab.
            </p>
        </main>
    );
}

createRoot(document.body).render(
    <StrictMode>
        <Suspense fallback={<main>Opening …</main>}>
            <Clicks />
        </Suspense>
    </StrictMode>,
);
