import {existsSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {newFolder} from '../../helpers/program.js';
import {startPeer} from './tcp.js';

/** Words that the help must contain. */
const HELP = [
	'bridge raw',
	'--mcp-port',
	'--flush-millis',
	'--filename-format',
	'PORT_RULE',
	'LOG_DIRECTORY',
	'2000',
	'rawprox_%Y-%m-%d-%H.ndjson',
	'--max-buffer',
	'--on-full',
];

test('the usage line names the three options, the rules and the folder [CMD_001]', async t => {
	const {stdout} = await runBridge(['raw', '--help']);
	const line = stdout.find(text => text.includes('PORT_RULE') && text.includes('bridge raw')) ?? '';
	for (const part of ['--mcp-port', '--flush-millis', '--filename-format', 'LOG_DIRECTORY'])
		t.true(line.includes(part), `${part} in ${line}`);
});

test('prints help and exits with 2 without a rule and without --mcp-port [CMD_011] [SIMPLE_022]', async t => {
	const {code, stderr} = await runBridge(['raw']);
	t.is(code, 2);
	t.regex(stderr, /usage/i);
});

test('prints help after an error on stderr and no NDJSON on stdout [CMD_015] [SIMPLE_023]', async t => {
	const {stdout, stderr} = await runBridge(['raw']);
	t.deepEqual(stdout, []);
	t.true(stderr.includes('PORT_RULE'));
});

test('the help has usage, arguments, examples and a reference to the documentation [CMD_013]', async t => {
	const {stderr} = await runBridge(['raw']);
	for (const word of HELP) t.true(stderr.includes(word), word);
	t.regex(stderr, /^usage/im);
	t.regex(stderr, /^examples?\b/im);
	t.regex(stderr, /bridge raw (?:.* )?\d+:[\w.]+:\d+/);
	t.regex(stderr, /README|docs\//);
});

test('bridge raw --help prints the same help on stdout and exits with 0', async t => {
	const {code, stdout, stderr} = await runBridge(['raw', '--help']);
	t.is(code, 0);
	t.is(stderr, '');
	for (const word of HELP) t.true(stdout.join('\n').includes(word), word);
});

test('bridge decode --help prints help with an example on stdout and exits with 0', async t => {
	const {code, stdout, stderr} = await runBridge(['decode', '--help']);
	t.is(code, 0);
	t.is(stderr, '');
	for (const word of ['bridge decode', '--conn', '--from', '--to']) t.true(stdout.join('\n').includes(word));
	t.regex(stdout.join('\n'), /^examples?\b/im);
});

test('rejects a folder without rules and without --mcp-port [CMD_014]', async t => {
	const folder = join(await newFolder(t), 'logs');
	const {code, stdout, stderr} = await runBridge(['raw', `@${folder}`]);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.regex(stderr, /rule/i);
	t.false(existsSync(folder));
});

test('rejects --filename-format without a folder and names it [CMD_016] [ROT_015]', async t => {
	const {code, stdout, stderr} = await runBridge(['raw', '--filename-format', 'x.ndjson', '0:127.0.0.1:9']);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.regex(stderr, /--filename-format/);
	t.regex(stderr, /@/);
});

test('rejects two folders and creates neither [CMD_008] [SIMPLE_021]', async t => {
	const folder = await newFolder(t);
	const args = ['raw', `@${join(folder, 'one')}`, '0:127.0.0.1:9', `@${join(folder, 'two')}`];
	const {code, stdout, stderr} = await runBridge(args);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.regex(stderr, /@/);
	t.false(existsSync(join(folder, 'one')) || existsSync(join(folder, 'two')));
});

test('rejects a port in use, names it and starts no other rule [SIMPLE_004]', async t => {
	const {port} = await startPeer(t);
	const {code, stdout, stderr} = await runBridge(['raw', '0:127.0.0.1:9', `${port}:127.0.0.1:9`]);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.true(stderr.includes(String(port)));
	t.notRegex(stderr, /\n {4}at /);
});

test('rejects two rules for one port and a rule that forwards to itself, and names the port [SIMPLE_004]', async t => {
	const port = await freePort();
	for (const rules of [[`${port}:127.0.0.1:9`, `${port}:127.0.0.1:10`], [`${port}:localhost:${port}`]]) {
		const {code, stdout, stderr} = await runBridge(['raw', ...rules]);
		t.is(code, 2);
		t.deepEqual(stdout, []);
		t.true(stderr.includes(String(port)));
	}
});

test('rejects a control port in use and names it', async t => {
	const {port} = await startPeer(t);
	const {code, stdout, stderr} = await runBridge(['raw', '--mcp-port', String(port)]);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.true(stderr.includes(String(port)));
});

/** Invalid arguments, and patterns of the first line of the error. */
const invalid: ReadonlyArray<readonly [args: readonly string[], ...patterns: RegExp[]]> = [
	[['nonsense'], /nonsense/],
	[['8080:host'], /8080:host/],
	[['--mcp-port', '0', '8080:host'], /8080:host/],
	[['port:127.0.0.1:80'], /port:127\.0\.0\.1:80/],
	[['70000:127.0.0.1:80'], /70000/],
	[['-1:127.0.0.1:80'], /-1/],
	[['0:127.0.0.1:0'], /0:127\.0\.0\.1:0/],
	[['0:127.0.0.1:65536'], /65536/],
	[['0::80'], /0::80/],
	[['0:::1:80'], /0:::1:80/],
	[['udp:0:127.0.0.1:53'], /udp/],
	[['--mcp-port', 'soon'], /--mcp-port/, /soon/],
	[['--mcp-port', '-1'], /--mcp-port/],
	[['--mcp-port', '65536'], /--mcp-port/, /65536/],
	[['--mcp-port', ''], /--mcp-port/],
	[['--flush-millis', 'often', '0:127.0.0.1:9'], /--flush-millis/, /often/],
	[['--flush-millis', '-5', '0:127.0.0.1:9'], /--flush-millis/],
	[['--max-buffer', 'lots', '0:127.0.0.1:9'], /--max-buffer/, /lots/],
	[['--on-full', 'panic', '0:127.0.0.1:9'], /--on-full/, /panic/, /gap/, /wait/],
	[['--mcp-prot', '0', '0:127.0.0.1:9'], /--mcp-prot/, /--mcp-port/],
	[['--filename-format', '../x', '0:127.0.0.1:9', '@logs'], /--filename-format/],
	[['--filename-format', 'a/%Y', '0:127.0.0.1:9', '@logs'], /--filename-format/],
	[['0:127.0.0.1:9', '@'], /@/],
	[['0:127.0.0.1:9', '--log', 'a', '@b'], /Several/],
	[['0:127.0.0.1:9', '--log', 'a', '--filename-format', 'x'], /--filename-format/],
	[['0:127.0.0.1:9', '--log', '.'], /folder/, /@\./],
	[['0:127.0.0.1:9', '--url', 'http://127.0.0.1/'], /--url/, /bridge raw/],
	[['0:127.0.0.1:9', '--cache-tools'], /--cache-tools/],
	[['0:127.0.0.1:9', '--conn', 'x'], /--conn/],
	[['0:127.0.0.1:9', '@/dev/null/logs'], /\/dev\/null\/logs/],
];

for (const [args, ...patterns] of invalid)
	test(`rejects bridge raw ${args.map(arg => arg || "''").join(' ')} with the reason and exit code 2`, async t => {
		const {code, stdout, stderr} = await runBridge(['raw', ...args], '', {cwd: await newFolder(t)});
		t.is(code, 2, stderr);
		t.deepEqual(stdout, []);
		for (const pattern of patterns) t.regex(stderr.split('\n')[0] ?? '', pattern);
		t.notRegex(stderr, /\n {4}at |This is a bug/);
	});

for (const [what, args, remedy] of [
	['the command line', (port: number) => [`${port}:127.0.0.1:9`], 'Use another port.'],
	[
		'--mcp-port',
		(port: number) => ['--mcp-port', `${port}`],
		'Use another one: --mcp-port PORT (0 for any free port).',
	],
] as const)
	test(`a port in use by ${what} is an error that names the process and a remedy [U-P1-4]`, async t => {
		const {port} = await startPeer(t);
		const {code, stderr} = await runBridge(['raw', ...args(port)]);
		t.is(code, 2);
		t.true(stderr.startsWith(`bridge: Port ${port} already in use. `), stderr);
		t.true(stderr.endsWith(` (process ${process.pid}) listens on it. ${remedy}\n`), stderr);
	});
