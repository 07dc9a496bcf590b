/** The progress of an exploration for a reader. A page has no terminal. */

/**
 * @param {((seeds: number) => void) | boolean | undefined} progress the option of explore()
 * @param {number} _total the number of seeds
 * @returns {{ update: (seeds: number) => void, end: () => void }}
 */
export const progressMeter = (progress, _total) => ({
    update: typeof progress === 'function' ? progress : () => {},
    end: () => {},
});
