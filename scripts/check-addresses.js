/**
 * Refuses to publish the package while package.json has addresses under `.example`. Nobody can own that domain (RFC 2606),
 * so they stand there until the project has an address that the public can reach. `npm publish` runs it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, main } from './lib/failure.js';
import { repository } from './lib/paths.js';

await main(async () => {
    const {
        homepage,
        bugs,
        repository: source,
    } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    const addresses = [homepage, bugs.url, source.url];
    const reserved = addresses.filter((address) => new URL(address).hostname.endsWith('.example'));
    if (reserved.length === 0) return;
    throw new Failure(
        `package.json has addresses that stand for none: ${reserved.join(', ')}; replace them before you publish`,
    );
});
