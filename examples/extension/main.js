import { open } from 'tabacus';

const element = (id) => document.getElementById(id);

/** The page shows what the background worker counts. */
async function start() {
    const tab = await open({ namespace: 'example' });
    tab.counter('clicks').subscribe((value) => (element('count').value = value));

    element('add').onclick = () => chrome.runtime.sendMessage('add');
    element('run').onclick = async () => {
        element('lock').textContent = await chrome.runtime.sendMessage('run');
    };
    for (const id of ['add', 'run']) element(id).disabled = false;
}

start();
