/** How many pages are downloaded at once, over all tabs. */
export const WIDTH = 2;
