/*
 * Files that are opened by path at run time. The bundle moves this module to dist/bin, dist/lib or
 * dist/chunks. These are at the same depth as its source, so the URLs stay valid.
 */

const dist = new URL('../', import.meta.url);

/** The worker thread that writes traffic logs. */
export const logWorker = new URL('lib/traffic-log/log-worker.js', dist);
/** The worker thread that indexes traffic for `bridge view`. */
export const indexWorker = new URL('lib/view/index-worker.js', dist);
/** The worker thread that runs the Python interpreter. */
export const pythonWorker = new URL('lib/run/python/worker.js', dist);
/** The page of `bridge view`. */
export const pageFolder = new URL('lib/view/page/', dist);
export const viewPage = {files: pageFolder, worker: indexWorker};
/** The server that `bridge gateway` starts without a configuration file. */
export const demoServer = new URL('bin/demo-server.js', dist);
