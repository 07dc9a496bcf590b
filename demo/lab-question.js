/**
 * Asks a Worker, so that the page stays responsive. Each question has a Worker of its own, so terminating it cancels.
 */

/** @typedef {import('../js/lab.js').ExploreReport} ExploreReport */
/** @typedef {import('../js/lab.js').MatrixCell} MatrixCell */
/** @typedef {{ report?: ExploreReport, cell?: MatrixCell, done?: boolean, error?: string }} Answer */

/**
 * @param {object} question a message that lab-worker.js understands
 * @param {(answer: Answer) => void} onAnswer is not called again after `done` or `error`
 */
export function ask(question, onAnswer) {
    const worker = new Worker(new URL('./lab-worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => onAnswer(data);
    // If a Worker cannot be loaded, its error has no message.
    worker.onerror = ({ message }) => {
        onAnswer({ error: message ? `The worker failed: ${message}` : 'The worker could not be loaded' });
    };
    worker.postMessage(question);
    return worker;
}
