import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {freePort} from '../helpers/free-port.js';
import {root} from './blocks.js';

/** The program behind `bridge`, `mcp-bridge` and `npx mcp-stream-bridge` in the sandbox. */
const program = join(root, 'dist/bin/bridge.js');
const peers = join(root, 'test/peers');

/** A folder in which the commands of one page run, as if a user had opened a terminal there. */
export type Sandbox = {
	/** Everything is in it. Its name is unique, and is in the environment of each process. */
	readonly folder: string;
	readonly home: string;
	/** The working directory, which pages show as /home/me/app. */
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	/** Replaces the ports and the home folder in a text of a page with those of the sandbox. */
	toLocal(text: string): string;
	/** Converts an output to the form that the page shows. */
	toShown(text: string): string;
};

const portInPage =
	/(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1\]):(\d{4,5})\b|--(?:mcp-|metrics-)?port (\d{4,5})\b|--listen (\d{4,5})\b|\braw (\d{4,5}):|listen\((\d{4,5})\b|\b(7411)\b/g;

/** The ports that a page names. */
const portsIn = (page: string): Set<string> =>
	new Set([...page.matchAll(portInPage)].flatMap(match => match.slice(1).filter(port => port !== undefined)));

async function portMap(page: string): Promise<Map<string, string>> {
	const map = new Map<string, string>();
	for (const port of portsIn(page)) map.set(port, String(await freePort()));
	return map;
}

const replaceAll = (text: string, map: ReadonlyMap<string, string>): string =>
	text.replace(/(?<![\w.-])\d{4,5}(?![\w.])/g, number => map.get(number) ?? number);

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Maps a default port, which a page cannot set, to a free one. */
const listenHook = (ports: ReadonlyMap<string, string>): string => `
import net from 'node:net';
const ports = new Map(${JSON.stringify([...ports])});
const {listen} = net.Server.prototype;
net.Server.prototype.listen = function (first, ...rest) {
	const local = port => Number(ports.get(String(port)) ?? port);
	if (typeof first === 'number') return listen.call(this, local(first), ...rest);
	if (typeof first?.port === 'number') return listen.call(this, {...first, port: local(first.port)}, ...rest);
	return listen.call(this, first, ...rest);
};
`;

type Package = {readonly bin?: string | Readonly<Record<string, string>>};

/** The real npx. */
const realNpx = (process.env.PATH ?? '')
	.split(':')
	.map(path => join(path, 'npx'))
	.find(path => existsSync(path));

/** The lines of the npx shim for the packages of test/peers. */
function packageCases(): string[] {
	const {dependencies} = JSON.parse(readFileSync(join(peers, 'package.json'), 'utf8')) as {
		dependencies: Readonly<Record<string, string>>;
	};
	return Object.entries(dependencies).flatMap(([alias, version]) => {
		const installed = join(peers, 'node_modules', alias);
		if (!existsSync(installed)) return [];
		const {bin = {}} = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Package;
		const [name, file] = typeof bin === 'string' ? ['', bin] : (Object.entries(bin)[0] ?? []);
		if (file === undefined) return [];
		const real = `exec ${quote(realNpx ?? 'npx')} --no --prefix ${quote(peers)} -- ${name} "$@"`;
		const direct = `exec ${quote(process.execPath)} ${quote(join(installed, file))} "$@"`;
		const words = version.startsWith('npm:') ? version.slice('npm:'.length) : alias;
		return [`${quote(words)}) [ -e "$folder/real-npx" ] && ${real}`, `  ${direct} ;;`];
	});
}

function writeProgram(folder: string, name: string, ...lines: string[]): void {
	const file = join(folder, name);
	writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'));
	chmodSync(file, 0o755);
}

/** Writes the programs that pages use: bridge, and an npx that downloads nothing. */
function writePrograms(folder: string, ports: ReadonlyMap<string, string>): string {
	const bin = join(folder, 'bin');
	const hook = join(folder, 'listen-hook.mjs');
	mkdirSync(bin);
	writeFileSync(hook, listenHook(ports));
	const bridge = `exec ${quote(process.execPath)} --import ${quote(hook)} ${quote(program)} "$@"`;
	for (const name of ['bridge', 'mcp-bridge']) writeProgram(bin, name, bridge);
	writeProgram(
		bin,
		'npx',
		'while [ "$1" = -y ] || [ "$1" = --yes ]; do shift; done',
		// The real npx starts slowly. A page that waits for its processes has a setup that creates the file.
		`name=$1; folder=${quote(folder)}; shift`,
		'case "$name" in',
		`mcp-stream-bridge) ${bridge} ;;`,
		...packageCases(),
		'esac',
		'echo "npx: $name is not in test/peers. Tests download nothing." >&2; exit 1',
	);
	// The package is not published, so `npm install` is faked.
	writeProgram(bin, 'npm', '[ "$*" = "install -g mcp-stream-bridge" ] || exit 1');
	for (const [name, file] of Object.entries({
		codex: '.bin/codex',
		claude: `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
	})) {
		const installed = join(peers, 'node_modules', file);
		if (existsSync(installed)) writeProgram(bin, name, `exec ${quote(installed)} "$@"`);
	}
	return bin;
}

/** Makes a folder for a page. The caller removes it. */
export async function newSandbox(page: string): Promise<Sandbox> {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-docs-')));
	const home = join(folder, 'me');
	const cwd = join(home, 'app');
	for (const path of [cwd, join(folder, 'tmp')]) mkdirSync(path, {recursive: true, mode: 0o700});
	const ports = await portMap(page);
	const documented = new Map([...ports].map(([port, local]) => [local, port]));
	const bin = writePrograms(folder, ports);
	const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
	return {
		folder,
		home,
		cwd,
		env: {
			PATH: path,
			HOME: home,
			USER: 'me',
			LANG: 'C.UTF-8',
			TZ: 'UTC',
			NO_COLOR: '1',
			TERM: 'dumb',
			XDG_CONFIG_HOME: join(home, '.config'),
			XDG_STATE_HOME: join(home, '.local/state'),
			XDG_CACHE_HOME: join(home, '.cache'),
			TMPDIR: join(folder, 'tmp'),
			npm_config_update_notifier: 'false',
			npm_config_offline: 'true',
			// Marks each process, and is where a setup finds the files of the repository.
			DOCS_FOLDER: folder,
			DOCS_REPOSITORY: root,
		},
		toLocal: text => replaceAll(text.replaceAll('/home/me', home), ports),
		toShown: text => replaceAll(text.replaceAll(home, '/home/me'), documented),
	};
}
