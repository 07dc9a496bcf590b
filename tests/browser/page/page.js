globalThis.page = {
    startIdleWorker() {
        return new Promise((resolve, reject) => {
            globalThis.idle = new Worker('/idle-worker.js');
            globalThis.idle.onmessage = () => resolve();
            globalThis.idle.onerror = (event) => reject(new Error(event.message));
        });
    },
    stopIdleWorker() { globalThis.idle.terminate(); }
};
