// Installs the dependencies of `npm run test:peers` if they are missing or outdated.
import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {brotliDecompressSync} from 'node:zlib';

const folder = fileURLToPath(new URL('.', import.meta.url));
const modules = new URL('node_modules/', import.meta.url);
const stamp = new URL('.bridge-peers-stamp', modules);
// The hash includes .npmrc, which controls install scripts, and this script, which has steps after npm.
const wanted = createHash('sha256')
	.update(readFileSync(new URL('package-lock.json', import.meta.url)))
	.update(readFileSync(new URL('.npmrc', import.meta.url)))
	.update(readFileSync(new URL(import.meta.url)))
	.digest('hex');

function reasonToInstall() {
	if (!existsSync(modules)) {
		return 'not installed yet';
	}

	if (!existsSync(stamp)) {
		return 'the last installation did not finish';
	}

	return readFileSync(stamp, 'utf8') === wanted
		? undefined
		: 'package-lock.json, .npmrc or install.mjs changed';
}

/** Removes the programs of other platforms, which take up much of the disk space. */
function removeForeignPrograms() {
	const arch = {x64: 'amd64', ia32: '386'}[process.arch] ?? process.arch;
	const os = {win32: 'windows'}[process.platform] ?? process.platform;
	keepOnly('@negokaz/excel-mcp-server/dist/', /^excel-mcp-server_/, `excel-mcp-server_${os}_${arch}_`);
	keepOnly('sqlite3/prebuilds/', /^/, `${process.platform}-${process.arch}`);
}

/**
 * Unpacks the browser with its libraries and fonts, which the package ships compressed. It is built for
 * Linux on x64.
 */
function unpackBrowser() {
	const packed = new URL('@sparticuz/chromium/bin/', modules);
	const target = new URL('.chromium/', modules);
	rmSync(target, {recursive: true, force: true});
	mkdirSync(target);
	const unpacked = name => brotliDecompressSync(readFileSync(new URL(name, packed)));
	writeFileSync(new URL('chromium', target), unpacked('chromium.br'), {mode: 0o755});
	for (const name of ['al2023.tar.br', 'swiftshader.tar.br', 'fonts.tar.br']) {
		const tar = spawnSync('tar', ['-x', '--no-same-owner'], {cwd: target, input: unpacked(name)});
		if (tar.status !== 0)
			throw new Error(`tar could not unpack ${name}: ${tar.error ?? tar.stderr}. Is tar installed?`);
	}
	writeFileSync(
		new URL('fonts.conf', target),
		`<fontconfig><dir>${fileURLToPath(target)}fonts</dir><cachedir>${fileURLToPath(target)}cache</cachedir></fontconfig>\n`,
	);
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
	process.stderr.write(
		`Installing real MCP servers and clients, two releases of Codex, Claude Code, the Inspector, Chromium and Node 24 into test/peers (about 2.2 GB): ${reason}.\n`,
	);
	// Flags of the outer `npm test` (--omit, --prefix, …) reach its scripts as npm_config_* and must not
	// affect this npm.
	const outer = /^npm_(?:package_|lifecycle_|config_(?:local_prefix|prefix|omit|include|dry_run)$)/i;
	const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
	// Shows errors only: npm would warn about the Inspector's engine, Node 22, although it works on 20.
	const npm = spawnSync('npm', ['ci', '--loglevel=error', '--no-progress'], {
		cwd: folder,
		env,
		// npm's stdout is redirected, so that the stdout of this script stays empty in pipes.
		stdio: ['ignore', 2, 2],
		shell: process.platform === 'win32',
	});
	if (npm.error) {
		process.stderr.write(`npm could not be started: ${npm.error.message}\n`);
	}

	if (npm.status === 0) {
		removeForeignPrograms();
		if (process.platform === 'linux' && process.arch === 'x64') unpackBrowser();
		writeFileSync(stamp, wanted);
	}

	process.exitCode = npm.status ?? 1;
}
