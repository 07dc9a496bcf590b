import { open } from 'tabacus/service-worker';

const opened = open({ namespace: 'example' });

chrome.action.onClicked.addListener(() => chrome.tabs.create({ url: 'index.html' }));

chrome.runtime.onMessage.addListener((message, _sender, respond) => {
    answer(message).then(respond);
    return true; // the answer comes later
});

async function answer(message) {
    const tab = await opened;
    const clicks = tab.counter('clicks');
    if (message === 'run') return tab.lock('door').run(({ token }) => `held once, with token ${token}`);
    clicks.add();
    await clicks.flush(); // the browser may stop this worker at any time
}
