import { open } from 'tabacus';

const element = (id) => document.getElementById(id);

async function start() {
    const tab = await open({ namespace: 'example' });
    const clicks = tab.counter('clicks');
    clicks.subscribe((value) => (element('count').value = value));

    element('add').onclick = () => clicks.add();
    element('run').onclick = () =>
        tab.lock('door').run(({ token }) => {
            element('lock').textContent = `held once, with token ${token}`;
        });
    for (const id of ['add', 'run']) element(id).disabled = false;
}

start();
