/** A question to a Worker of its own, so that the page stays alive meanwhile. To cancel is to terminate it. */

/** @typedef {import('../js/lab.js').ExploreReport} ExploreReport */
/** @typedef {import('../js/lab.js').MatrixCell} MatrixCell */
/** @typedef {{ report?: ExploreReport, cell?: MatrixCell, done?: boolean, error?: string }} Answer */

/**
 * @param {object} question as lab-worker.js has it
 * @param {(answer: Answer) => void} onAnswer nothing comes after `done` or `error`
 */
export function ask(question, onAnswer) {
    const worker = new Worker(new URL('./lab-worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => onAnswer(data);
    // The error of a Worker that could not be loaded has no message.
    worker.onerror = ({ message }) => {
        onAnswer({ error: message ? `The worker failed: ${message}` : 'The worker could not be loaded' });
    };
    worker.postMessage(question);
    return worker;
}
