/** A question to all tabs of the demo, and their answers. */

/** A tab that has not answered for so long is left out; only a frozen one is that slow. */
const ANSWER_ms = 15_000;

/**
 * @typedef {{ answers: any[], missing: string[] }} Answers  `missing`: tabs that gave none
 * @typedef {(question: import('./channel.js').Message, reply: string, more_ms?: number) => Promise<Answers>} Ask
 */

/**
 * Asks the tabs that were open when it was made, and waits for those that still are.
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
            const deaf = channel.on(reply, (answer) => {
                if (answer.round === round) answers.set(answer.tab, answer);
                allAnswered(done);
            });
            const blind = presence.subscribe(() => allAnswered(done));
            return () => [deaf, blind].forEach((undo) => undo());
        });
        return { answers: [...answers.values()], missing: missing() };
    };
}

/**
 * @param {number} timeout_ms
 * @param {(done: () => void) => () => void} start  returns what ends the waiting
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
