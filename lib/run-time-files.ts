/*
 * Files that are opened by path at run time. The bundle puts this module into dist/bin, dist/lib or dist/chunks, which are
 * as deep as its own place, so that the URLs are right everywhere.
 */

const dist = new URL('../', import.meta.url);

/** The thread that writes traffic logs. */
export const logWorker = new URL('lib/traffic-log/log-worker.js', dist);
/** The thread that indexes traffic for the page. */
export const indexWorker = new URL('lib/view/index-worker.js', dist);
/** The thread that runs the Python interpreter. */
export const pythonWorker = new URL('lib/run/python/worker.js', dist);
/** The files of the page that shows traffic. */
export const pageFolder = new URL('lib/view/page/', dist);
/** That page, and its thread. */
export const viewPage = {files: pageFolder, worker: indexWorker};
/** The server that `bridge gateway` has without a configuration file. */
export const demoServer = new URL('bin/demo-server.js', dist);
