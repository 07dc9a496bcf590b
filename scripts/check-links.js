/** node scripts/check-links.js: checks every relative link and anchor of the Markdown files. */

import { main } from './lib/failure.js';
import { checkLinks } from './lib/links.js';

await main(async () => {
    console.log(`${await checkLinks()} links lead to a file or a heading`);
});
