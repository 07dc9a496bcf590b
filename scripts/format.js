/** npm run format: lays out the C++ as .clang-format says. */

import { main } from './lib/failure.js';
import { format } from './lib/lint.js';

await main(format);
