/** A Worker that does nothing. The harness finds the process of a page by the thread of this Worker. */

postMessage('started');
