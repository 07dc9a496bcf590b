import { open } from 'tabacus/service-worker';

const opened = open({ namespace: 'example' });

addEventListener('message', (event) => event.waitUntil(answer(event)));

async function answer({ data, source }) {
    const tab = await opened;
    const clicks = tab.counter('clicks');
    if (data === 'add') clicks.add();
    if (data === 'run')
        await tab.lock('door').run(({ token }) => source.postMessage(`held once, with token ${token}`));
    await clicks.flush(); // the browser may stop this worker at any time
}
