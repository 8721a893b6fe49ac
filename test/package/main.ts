// Checks the package as users get it: `npm run pack:check`. Builds and installs the tarball, and uses it.
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {checkVersion, install} from './installed.js';
import {checkLibrary} from './library.js';
import {checkDemo, checkGateway, checkRaw, checkWithoutInterpreter, checkWrap} from './modes.js';
import {installPeers} from './peers.js';
import {checkByName, checkNpx} from './registry.js';
import {runSteps} from './report.js';
import {checkContents, checkLinks, checkSize, pack, unpack} from './tarball.js';
import {checkWorkflows} from './workflows.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-pack-check-')));
const full = join(folder, 'full');
const lean = join(folder, 'lean');
let tarball = '';
let unpacked = '';

const isGood = await runSteps([
	['install the packages of the check', installPeers],
	['workflows pass actionlint', checkWorkflows],
	[
		'build the tarball',
		async () => {
			tarball = await pack(folder);
			return checkSize(tarball);
		},
	],
	[
		'no source map, picture, duplicate module or absolute path',
		async () => {
			unpacked = await unpack(tarball, folder);
			return checkContents(unpacked);
		},
	],
	['links between documents', () => checkLinks(unpacked)],
	['install with --omit=dev', () => install(tarball, full)],
	['npx mcp-bridge --version', () => checkVersion(full)],
	['wrap a real server', () => checkWrap(full)],
	['demo server', () => checkDemo(full)],
	['gateway, page and run', () => checkGateway(full)],
	['raw', () => checkRaw(full)],
	['install without optional dependencies', () => install(tarball, lean, {withoutOptional: true})],
	['run without the interpreter', () => checkWithoutInterpreter(lean)],
	['library and docs/write-a-stage.md', () => checkLibrary(full)],
	['npx from the tarball', () => checkNpx(tarball, folder)],
	['npx by name', () => checkByName(tarball, folder)],
]);
rmSync(folder, {recursive: true, force: true});
process.exitCode = isGood ? 0 : 1;
