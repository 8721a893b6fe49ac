import {fileURLToPath} from 'node:url';

// This file runs as dist/bench/paths.js: the compiled programs are next to it, and the peers are in the
// source folder.
const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const benchFolder = fromHere('../../bench/');
export const bridgeProgram = fromHere('../bin/bridge.js');
export const programPath = (name: string): string => fromHere(`programs/${name}.js`);
