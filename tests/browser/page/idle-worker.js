/** Lives, and does nothing: by its thread the harness finds the process that it is in. */

postMessage('started');
