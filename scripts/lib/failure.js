/** A failure that is printed without a stack, since its message suffices. */
export class Failure extends Error {}

/**
 * Runs a script's main function. If it fails, prints the failure and sets the exit code to 1.
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
