#!/usr/bin/env node
import process from 'node:process';

/** The minimum Node version. It is checked before other imports, which may fail to load in older versions. */
const MIN_NODE = '20.18.1';

const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
const [minMajor = 0, minMinor = 0, minPatch = 0] = MIN_NODE.split('.').map(Number);
if ((major - minMajor || minor - minMinor || patch - minPatch) < 0) {
	process.stderr.write(`bridge needs Node ${MIN_NODE} or later; this is ${process.versions.node}.\n`);
	process.exit(2);
}

const {run} = await import('./main.js');
await run();
