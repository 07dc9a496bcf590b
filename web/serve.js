/**
 * Serves a folder, or the demo, from the command line:
 *
 *     node web/serve.js                      the demo, as `npm run demo` does, but without the build
 *     node web/serve.js folder [port]        a folder
 *     node web/serve.js --plain folder       a folder, without isolation
 */

import { serveDemo } from './demo.js';
import { createServer } from './server.js';

const args = process.argv.slice(2);
const [root, port = '8080'] = args.filter((argument) => !argument.startsWith('--'));
const options = { isolated: !args.includes('--plain'), port: Number(port) };
const { url } = root ? await createServer({ root, ...options }) : await serveDemo(options);
console.log(url);
