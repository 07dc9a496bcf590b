'use client';

import { useEffect, useState } from 'react';
import { open } from 'tabacus';

export function Clicks() {
    const [tab, setTab] = useState();
    const [count, setCount] = useState('…');
    const [lock, setLock] = useState('free');

    // An effect runs in the browser only: nothing is opened while the server renders.
    useEffect(() => {
        const opened = open({ namespace: 'example' });
        opened.then((tab) => {
            setTab(tab);
            tab.counter('clicks').subscribe(setCount);
        });
        return () => void opened.then((tab) => tab.close());
    }, []);

    const run = () => tab.lock('door').run(({ token }) => setLock(`held once, with token ${token}`));
    return (
        <>
            <output id="count">{count}</output>
            <p>
                <button id="add" disabled={!tab} onClick={() => tab.counter('clicks').add()}>
                    Add one
                </button>{' '}
                <button id="run" disabled={!tab} onClick={run}>
                    Take the lock
                </button>
            </p>
            <p>
                The lock: <span id="lock">{lock}</span>.
            </p>
        </>
    );
}
