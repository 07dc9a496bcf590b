/** Sends a question to all tabs of the demo, and collects their answers. */

/** The longest time for an answer. Only a frozen tab needs longer, and it is left out. */
const ANSWER_ms = 15_000;

/**
 * @typedef {{ answers: any[], missing: string[] }} Answers  `missing`: the tabs that gave no answer
 * @typedef {(question: import('./channel.js').Message, reply: string, more_ms?: number) => Promise<Answers>} Ask
 */

/**
 * Returns a function that asks the tabs which are open at this call. It waits for the answers of those that are still
 * open.
 *
 * @param {import('./channel.js').Channel} channel
 * @param {import('./presence.js').Presence} presence
 * @returns {Ask}
 */
export function asker(channel, presence) {
    const tabs = presence.tabs().map(({ id }) => id);
    return async (question, reply, more_ms = 0) => {
        const round = crypto.randomUUID();
        const answers = new Map();
        const missing = () => tabs.filter((id) => !answers.has(id));
        const allAnswered = (/** @type {() => void} */ done) => {
            const living = new Set(presence.tabs().map(({ id }) => id));
            if (!missing().some((id) => living.has(id))) done();
        };
        await withTimeout(ANSWER_ms + more_ms, (done) => {
            channel.send({ ...question, round, tabs });
            const stopReceiving = channel.on(reply, (answer) => {
                if (answer.round === round) answers.set(answer.tab, answer);
                allAnswered(done);
            });
            const stopWatching = presence.subscribe(() => allAnswered(done));
            return () => [stopReceiving, stopWatching].forEach((stop) => stop());
        });
        return { answers: [...answers.values()], missing: missing() };
    };
}

/**
 * Waits until `done` is called or the time is over.
 *
 * @param {number} timeout_ms
 * @param {(done: () => void) => () => void} start  returns a function that is called at the end of the wait
 */
async function withTimeout(timeout_ms, start) {
    let end = () => {};
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    await new Promise((resolve) => {
        timer = setTimeout(resolve, timeout_ms);
        end = start(() => resolve(undefined));
    });
    clearTimeout(timer);
    end();
}
