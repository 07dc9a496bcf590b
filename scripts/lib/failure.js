/** A failure whose message is all that its reader needs: it is printed without a stack. */
export class Failure extends Error {}

/**
 * Runs a script's main function; prints what went wrong and sets the exit code.
 * @param {() => Promise<void>} body
 */
export async function main(body) {
    try {
        await body();
    } catch (error) {
        console.error(error instanceof Failure ? `✗ ${error.message}` : error);
        process.exitCode = 1;
    }
}
