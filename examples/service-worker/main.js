import { open } from 'tabacus';

const element = (id) => document.getElementById(id);

/** The page shows what the service worker counts. */
async function start() {
    const tab = await open({ namespace: 'example' });
    tab.counter('clicks').subscribe((value) => (element('count').value = value));

    // dist/module and dist/classic differ in what kind of script their worker is.
    const type = location.pathname.includes('/classic/') ? 'classic' : 'module';
    await navigator.serviceWorker.register('./sw.js', { type });
    const { active } = await navigator.serviceWorker.ready;
    element('add').onclick = () => active.postMessage('add');
    element('run').onclick = () => active.postMessage('run');
    navigator.serviceWorker.onmessage = ({ data }) => (element('lock').textContent = data);
    for (const id of ['add', 'run']) element(id).disabled = false;
}

start();
