// Installs the peers on first need. Plain Node without dependencies: it runs before anything is installed.
import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const modules = new URL('node_modules/', import.meta.url);
const stamp = new URL('.bridge-peers-stamp', modules);
// The .npmrc counts too: it says whether install scripts run.
const wanted = createHash('sha256')
	.update(readFileSync(new URL('package-lock.json', import.meta.url)))
	.update(readFileSync(new URL('.npmrc', import.meta.url)))
	.digest('hex');

function reasonToInstall() {
	if (!existsSync(modules)) {
		return 'they are not there yet';
	}

	if (!existsSync(stamp)) {
		return 'the last installation did not finish';
	}

	return readFileSync(stamp, 'utf8') === wanted ? undefined : 'package-lock.json or .npmrc changed';
}

/** Some packages bring a program for each system there is. What this one cannot run is a good part of the disk space. */
function removeForeignPrograms() {
	const arch = {x64: 'amd64', ia32: '386'}[process.arch] ?? process.arch;
	const os = {win32: 'windows'}[process.platform] ?? process.platform;
	keepOnly('@negokaz/excel-mcp-server/dist/', /^excel-mcp-server_/, `excel-mcp-server_${os}_${arch}_`);
	keepOnly('sqlite3/prebuilds/', /^/, `${process.platform}-${process.arch}`);
}

function keepOnly(path, candidates, wantedStart) {
	const folderUrl = new URL(path, modules);
	for (const name of existsSync(folderUrl) ? readdirSync(folderUrl) : []) {
		if (candidates.test(name) && !name.startsWith(wantedStart)) {
			rmSync(new URL(`${name}/`, folderUrl), {recursive: true, force: true});
		}
	}
}

const reason = reasonToInstall();
if (reason !== undefined) {
	process.stderr.write(`Installing the test peers (npm ci in test/peers, about 1.5 GB on disk): ${reason}.\n`);
	// What `npm test` was given (--omit, --prefix, …) reaches its scripts as npm_config_*; it is not meant for this npm.
	const outer = /^npm_(?:package_|lifecycle_|config_(?:local_prefix|prefix|omit|include|dry_run)$)/i;
	const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
	// Errors only: the Inspector says it wants Node 22, works on 20, and npm would warn at length about it.
	const npm = spawnSync('npm', ['ci', '--loglevel=error', '--no-progress'], {
		cwd: folder,
		env,
		// npm reports on stdout; this script's stdout stays silent so that it can stand in any pipe.
		stdio: ['ignore', 2, 2],
		shell: process.platform === 'win32',
	});
	if (npm.error) {
		process.stderr.write(`npm could not be started: ${npm.error.message}\n`);
	}

	if (npm.status === 0) {
		removeForeignPrograms();
		writeFileSync(stamp, wanted);
	}

	process.exitCode = npm.status ?? 1;
}
