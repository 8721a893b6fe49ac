import {execFile} from 'node:child_process';
import {chmod, mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {loadConfig, loadConfigFile} from '../../lib/config/load-config.js';
import {newFolder} from '../helpers/program.js';
import {comparable, complaint, configFixture, isAboutContent, loaded, serviceOf, written} from './support.js';

const environment = {
	BRIDGE_TOKEN: 't0ken-of-sixteen-characters',
	BRIDGE_SECRET: 'a secret of some length',
	LEGACY_KEY: 'k',
};

const noQuotas = {clientSessions: undefined, clientRuns: undefined, clientRequests: undefined};
const otherLimits = {
	unreadBytes: 268_435_456,
	unreadForMs: 60_000,
	bufferBytes: 268_435_456,
	runCallBytes: 1_048_576,
	rate: undefined,
	...noQuotas,
};

test('uses defaults without a file', async t => {
	const folder = await newFolder(t);
	const {config, file} = await loadConfig({environment: {}, cwd: folder, home: folder});
	t.is(file, undefined);
	t.deepEqual(config, {
		listen: {host: '127.0.0.1', port: 7411},
		tokens: [],
		origins: [],
		expose: 'run',
		startupTimeoutMs: 10_000,
		runTimeoutMs: 90_000,
		limits: {messageBytes: 67_108_864, sessions: 1000, idleMs: 1_800_000, ...otherLimits},
		packs: undefined,
		secret: undefined,
		advertise: undefined,
		store: undefined,
		services: new Map(),
	});
});

test('searches the named file, $BRIDGE_CONFIG, the working directory and the home folder, in this order', async t => {
	const folder = await newFolder(t);
	const home = join(folder, 'home');
	const cwd = join(folder, 'cwd');
	await mkdir(join(home, '.config/bridge'), {recursive: true});
	await mkdir(cwd);
	const ports = async (named?: string, BRIDGE_CONFIG?: string): Promise<number> =>
		(await loadConfig({named, environment: {BRIDGE_CONFIG}, cwd, home, allowUntrusted: true})).config.listen
			.port;
	const places = [
		['home/.config/bridge/bridge.toml', 'listen = 1'],
		['home/.config/bridge/bridge.json', '{"listen": 2}'],
		['home/.config/bridge/bridge.yml', 'listen: 3'],
		['home/.config/bridge/bridge.yaml', 'listen: 4'],
		['cwd/bridge.toml', 'listen = 5'],
		['cwd/bridge.json', '{"listen": 6}'],
		['cwd/bridge.yml', 'listen: 7'],
		['cwd/bridge.yaml', 'listen: 8'],
	] as const;
	for (const [index, [name, text]] of places.entries()) {
		await writeFile(join(folder, name), text);
		t.is(await ports(), index + 1);
	}
	await writeFile(join(folder, 'other.yaml'), 'listen: 9');
	t.is(await ports(undefined, '../other.yaml'), 9);
	t.is(await ports(undefined, ''), 8);
	t.is(await ports('bridge.toml', '../other.yaml'), 5);
});

test('a missing named file is an error, even if another file would be found', async t => {
	const cwd = await newFolder(t);
	await writeFile(join(cwd, 'bridge.yaml'), 'listen: 1');
	for (const options of [{named: 'none.yaml', environment: {}}, {environment: {BRIDGE_CONFIG: 'none.yaml'}}])
		await t.throwsAsync(loadConfig({...options, cwd, home: cwd}), {
			code: 'ERR_CONFIG_INVALID',
			message: 'none.yaml cannot be read: no such file.',
		});
});

const legacy = {
	name: 'legacy',
	transport: 'http',
	isTransportGuessed: false,
	url: 'https://example.com/mcp',
	command: undefined,
	args: [],
	env: {},
	cwd: undefined,
	headers: {'X-Api-Key': 'k'},
	accept: 'application/json, text/event-stream',
	contentType: 'application/json',
	targetVersion: '2024-11-05',
	clientVersion: '2025-06-18',
	cacheTools: true,
	timeoutMs: 60_000,
	enabled: true,
	insecure: false,
	shared: false,
	strict: false,
	passAuthorization: true,
};

const files = {
	name: 'files',
	transport: 'stdio',
	isTransportGuessed: true,
	url: undefined,
	command: 'npx',
	args: ['-y', '@modelcontextprotocol/server-filesystem', '.'],
	env: {LOG: 'info'},
	cwd: configFixture('.').replace(/\/$/, ''),
	headers: {},
	accept: 'application/json, text/event-stream',
	contentType: 'application/json',
	targetVersion: undefined,
	clientVersion: undefined,
	cacheTools: false,
	timeoutMs: 60_000,
	enabled: true,
	insecure: false,
	shared: false,
	strict: false,
	passAuthorization: true,
};

for (const name of ['whole.yaml', 'whole.json', 'whole.toml'])
	test(`loads every key of ${name}`, async t => {
		const {config, warnings} = await loadConfigFile(configFixture(name), environment);
		t.deepEqual(warnings.filter(isAboutContent), []);
		const {services, ...whole} = config;
		t.deepEqual(comparable(whole), {
			listen: {host: '127.0.0.1', port: 7411},
			tokens: ['t0ken-of-sixteen-characters'],
			origins: ['http://localhost:*'],
			expose: 'run',
			startupTimeoutMs: 10_000,
			runTimeoutMs: 90_000,
			limits: {messageBytes: 67_108_864, sessions: 1000, idleMs: 1_800_000, ...otherLimits},
			packs: configFixture('packs'),
			secret: 'a secret of some length',
			advertise: 'http://bridge-1:7411/',
			store: 'redis://store:6379/0',
		});
		t.deepEqual([...services.keys()], ['legacy', 'files']);
		t.deepEqual(comparable(services.get('legacy')), legacy);
		t.deepEqual(services.get('files'), files);
	});

test('loads a .mcp.json of Claude Code unchanged', async t => {
	const {config, warnings} = await loadConfigFile(configFixture('claude-code.mcp.json'), {});
	t.deepEqual(warnings.filter(isAboutContent), []);
	t.deepEqual(
		[...config.services.values()].map(({name, transport, isTransportGuessed}) => [
			name,
			transport,
			isTransportGuessed,
		]),
		[
			['github', 'http', false],
			['asana', 'sse', false],
			['db', 'stdio', false],
		],
	);
	t.deepEqual(serviceOf(config, 'github').headers, {Authorization: 'Bearer none'});
	t.is(serviceOf(config, 'db').args.at(-1), 'sqlite::memory:');
});

test('loads a file of Claude Desktop unchanged, with a warning about unused keys', async t => {
	const file = configFixture('claude-desktop.json');
	const {config, warnings} = await loadConfigFile(file, {});
	t.deepEqual([...config.services.keys()], ['filesystem', 'brave-search']);
	t.true(
		warnings.some(warning => /Keys that bridge does not use are ignored: globalShortcut\./.test(warning)),
	);
});

test('loads a file of Cursor unchanged', async t => {
	const {config} = await loadConfigFile(configFixture('cursor.json'), {MY_KEY: 'k'});
	t.like(serviceOf(config, 'local'), {enabled: false, env: {API_KEY: 'k'}, transport: 'stdio'});
	t.like(serviceOf(config, 'remote'), {enabled: true, headers: {API_KEY: 'k'}, transport: 'http'});
});

test('loads a file of VS Code unchanged', async t => {
	const {config} = await loadConfigFile(configFixture('vscode.json'), {});
	t.deepEqual(
		[...config.services.values()].map(({transport}) => transport),
		['stdio', 'http'],
	);
});

test('accepts a byte order mark and an empty YAML file', async t => {
	t.is((await loaded(t, '\uFEFFlisten: 5')).config.listen.port, 5);
	t.is((await loaded(t, '\uFEFF{"listen": 5}', {name: 'a.json'})).config.listen.port, 5);
	t.is((await loaded(t, '# nothing\n')).config.services.size, 0);
	t.is((await loaded(t, 'servers:\n')).config.services.size, 0);
});

test('reports all errors of a file at once, sorted by line', async t => {
	const text = await complaint(
		t,
		[
			'listen: 0.0.0.0:80',
			'lmits: {}',
			'expose: everything',
			'servers:',
			'  Bad Name: {command: x}',
			'  a: {url: "https://x/", tiemout: 3}',
			'  b: {command: x, args: ["$\\{NONE}"]}'.replace('\\', ''),
			'  c: {}',
		].join('\n'),
	);
	const lines = text.split('\n');
	t.regex(lines[0] ?? '', /bridge\.yaml has 7 mistakes:$/);
	t.deepEqual(
		lines.slice(1, -1).map(line => /bridge\.yaml:(\d+): (\S+|servers\."Bad Name"):/.exec(line)?.slice(1)),
		[
			['1', 'listen'],
			['2', 'lmits'],
			['3', 'expose'],
			['5', 'servers."Bad Name"'],
			['6', 'servers.a.tiemout'],
			['7', 'servers.b.args[0]'],
			['8', 'servers.c'],
		],
	);
});

test('limits the number of reported errors', async t => {
	const text = await complaint(t, Array.from({length: 5000}, (_, at) => `key${at}: 1`).join('\n'));
	t.is(text.split('\n').length, 23);
	t.regex(text, /4980 more mistakes are not listed/);
});

test('warns about a literal secret that others can read, but not about one in a variable', async t => {
	const [literal, variable] = await Promise.all(
		['tokens: [hunter2hunter2hunter2]', `tokens: ["$\{TOKEN}"]`].map(async text => {
			const file = await written(t, 'bridge.yaml', text);
			await chmod(file, 0o644);
			return file;
		}),
	);
	const {warnings} = await loadConfigFile(literal ?? '', {});
	t.is(warnings.length, 1);
	t.regex(warnings[0] ?? '', /tokens\[0\].*other users of this machine can read/);
	t.false(warnings.join().includes('hunter2'));
	t.deepEqual((await loadConfigFile(variable ?? '', {TOKEN: 'x'.repeat(16)})).warnings, []);
	await chmod(literal ?? '', 0o600);
	t.deepEqual((await loadConfigFile(literal ?? '', {})).warnings, []);
});

test('reads a file through a link, and resolves its paths relative to the link', async t => {
	const folder = await newFolder(t);
	await mkdir(join(folder, 'a'));
	await writeFile(join(folder, 'a/real.yaml'), 'packs: p');
	await symlink('a/real.yaml', join(folder, 'bridge.yaml'));
	t.is((await loadConfigFile(join(folder, 'bridge.yaml'), {})).config.packs, join(folder, 'p'));
});

test('rejects folders, pipes and devices without blocking', async t => {
	const folder = await newFolder(t);
	await mkdir(join(folder, 'folder.yaml'));
	await promisify(execFile)('mkfifo', [join(folder, 'pipe.yaml')]);
	await symlink('/dev/zero', join(folder, 'zero.yaml'));
	for (const name of ['folder', 'pipe', 'zero'])
		await t.throwsAsync(loadConfigFile(join(folder, `${name}.yaml`), {}), {
			code: 'ERR_CONFIG_INVALID',
			message: /is not a regular file|it is a folder/,
		});
});

test('returns the line and the variables of each value', async t => {
	const {source} = await loaded(t, `listen: 5\ntokens:\n  - "$\{A:-sixteen-letters}$\{B:-y}"\n`);
	t.deepEqual(source(['listen']), {line: 1, variables: []});
	t.deepEqual(source(['tokens', 0]), {line: 3, variables: ['A', 'B']});
	t.is(source(['origins']), undefined);
	t.is(source(['constructor']), undefined);
});
