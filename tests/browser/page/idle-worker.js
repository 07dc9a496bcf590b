postMessage('started');
