import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {bridgeBin, runBridge, server} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';
import {onTerminal} from '../../helpers/terminal.js';

const puppet = server('puppet');

test.serial('--help prints help with an example on stdout and exits with 0', async t => {
	const {code, stdout, stderr} = await runBridge(['--help']);
	t.is(code, 0);
	t.is(stderr, '');
	const text = stdout.join('\n');
	for (const word of [
		'bridge [flags] -- COMMAND',
		'--log',
		'--timeout',
		'--env',
		'Examples',
		'bridge --debug -- npx',
	])
		t.true(text.includes(word), word);
});

test.serial('--version prints only the version', async t => {
	const {code, stdout, stderr} = await runBridge(['--version']);
	t.is(code, 0);
	t.is(stderr, '');
	t.is(stdout.length, 1);
	t.regex(stdout[0] ?? '', /^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

for (const [args, expected] of [
	[['-h'], ['--help']],
	[['help'], ['--help']],
	[
		['help', 'raw'],
		['raw', '--help'],
	],
	[
		['raw', '-h'],
		['raw', '--help'],
	],
	[['-v'], ['--version']],
	[['version'], ['--version']],
] as const)
	test.serial(`bridge ${args.join(' ')} is equivalent to bridge ${expected.join(' ')} [U-P1-3]`, async t => {
		const [one, other] = [await runBridge(args), await runBridge(expected)];
		t.is(one.code, 0);
		t.is(one.stderr, '');
		t.true(one.stdout.length > 0);
		t.deepEqual(one.stdout, other.stdout);
	});

test.serial('bridge help with an unknown command suggests the nearest one [U-P1-3]', async t => {
	const {code, stderr} = await runBridge(['help', 'gatewy']);
	t.is(code, 2);
	t.regex(stderr, /Unknown command "gatewy"\. Did you mean gateway\?/);
});

test.serial('help texts are at most 100 columns wide, except usage lines', async t => {
	for (const name of ['', 'gateway', 'install', 'replay', 'config', 'serve', 'doctor']) {
		const {stdout} = await runBridge(['help', ...(name === '' ? [] : [name])]);
		for (const line of stdout) t.true(line.length <= 100 || line.startsWith('  bridge '), line);
	}
});

test.serial('an older Node exits with the required version and does not report a bug [U-P0-5]', async t => {
	const older = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.8"}})')}`;
	const {code, stderr} = await runBridge(['--version'], '', {
		env: {...process.env, NODE_OPTIONS: `--import=${older}`},
	});
	t.is(code, 2);
	t.is(stderr, 'bridge needs Node 20.18.1 or later; this is 18.20.8.\n');
});

test.serial('passes --help and --version after -- to the server', async t => {
	const {code, stdout} = await runBridge(
		['--', ...puppet, '--help', '--version'],
		'{"jsonrpc":"2.0","id":1,"method":"argv"}\n',
		{answers: 1, isReady: true},
	);
	t.is(code, 0);
	t.deepEqual(stdout, ['{"jsonrpc":"2.0","id":1,"result":{"argv":["--help","--version"]}}']);
});

/** Invalid usages, and patterns for their errors. */
const wrong: ReadonlyArray<readonly [args: readonly string[], ...patterns: RegExp[]]> = [
	[['--debgu', '--', ...puppet], /--debgu/, /--debug\b/],
	[['--tiemout=5', '--', ...puppet], /--tiemout/, /--timeout\b/],
	[['--lgo', 'x', '--', ...puppet], /--lgo/, /--log\b/],
	[['--max-bufer=1', '--', ...puppet], /--max-bufer/, /--max-buffer/],
	[['--zzzzzzzzzzzz', '--', ...puppet], /--zzzzzzzzzzzz/],
	[['-x', '--', ...puppet], /-x/],
	[['gatewya'], /Unknown command "gatewya"\. Did you mean gateway\?/],
	[['npx', '-y', 'x'], /write: bridge -- npx -y x$/m],
	[['--log-level', 'warn', 'npx', '-y', 'x y'], /write: bridge --log-level warn -- npx -y 'x y'$/m],
	[['-c'], /Unknown flag -c\. See bridge --help\.$/m],
	[['serve', '--foo'], /Unknown flag --foo\. See bridge serve --help\.$/m],
	[['gateway', '--host', 'x'], /Unknown flag --host\./],
	[['--host', 'x'], /Unknown flag --host\. See bridge --help\.$/m],
	[['--prnt-client', 'x'], /Did you mean --print-client\? It is a flag of bridge gateway, bridge hub\.$/m],
	[['wrap', '--', 'npx', '-y', 'x'], /write: bridge -- npx -y x$/m],
	[['versions', 'npx', '-y', 'x'], /write: bridge versions -- npx -y x$/m],
	[['replay', 'log', 'npx', '-y', 'x'], /Pass one log.* write: bridge replay log -- npx -y x$/m],
	[['mail', '--identity', '-h'], /--identity -h is not valid/],
	[['--log', '--url', '--', ...puppet], /--log needs a value/],
	[['some', 'server'], /some/, /bridge -- some server/],
	[['--'], /--/],
	[['--timeout', 'soon', '--', ...puppet], /--timeout/, /soon/],
	[['--timeout=-1', '--', ...puppet], /--timeout/, /-1/],
	[['--timeout', '1e9', '--', ...puppet], /--timeout/, /1e9/],
	[['--timeout', '99999999999', '--', ...puppet], /--timeout/, /99999999999/],
	[['--timeout', '--', ...puppet], /--timeout/],
	[['--timeout', '1', '--timeout', '2', '--', ...puppet], /--timeout/],
	[['--max-buffer', 'lots', '--log', 'x', '--', ...puppet], /--max-buffer/, /lots/],
	[['--max-buffer', '5 bananas', '--log', 'x', '--', ...puppet], /--max-buffer/, /bananas/],
	[['--on-full', 'panic', '--log', 'x', '--', ...puppet], /--on-full/, /panic/, /gap/, /wait/],
	[['--flush-millis', 'often', '--log', 'x', '--', ...puppet], /--flush-millis/, /often/],
	[['--log-level', 'loud', '--', ...puppet], /--log-level/, /loud/, /debug/],
	[['--env', '=VALUE', '--', ...puppet], /--env/],
	[['--env', 'NO_SUCH_VARIABLE_HERE', '--', ...puppet], /--env/, /NO_SUCH_VARIABLE_HERE/],
	[['--env', '--', ...puppet], /--env/],
	[['--log', '-', '--', ...puppet], /--log -/, /stdout/],
	[['--log', '--', ...puppet], /--log/],
	[['--log', 'no-such-folder/traffic.ndjson', '--', ...puppet], /no-such-folder/],
	[['--filename-format', '%Y', '--', ...puppet], /--filename-format/, /--log @DIR/],
	[['--log', '@.', '--filename-format', '../%Y', '--', ...puppet], /--filename-format/],
	[['--log', '-'], /--log -/, /stdout/],
	[['--timeout', '5'], /--timeout/, /no way back|filter/],
	[['--cache-tools'], /--cache-tools/],
	[['gateway', '--url', 'http://127.0.0.1:1/'], /--url is not valid for/, /configuration/],
	[['hub', '--header', 'A: b'], /--header is not valid for/],
	[['--header', 'A: b', '--', ...puppet], /--header is not valid for/, /--url/],
	[['--env', 'A=b', '--url', 'http://127.0.0.1:1/'], /--env is not valid for/],
	[['gateway', '--env', 'A=b'], /--env is not valid for/],
	[['--print-client', 'codex'], /--print-client is not valid for/, /bridge gateway/],
	[['gateway', '--check', 'x'], /--check is not valid for bridge gateway/, /bridge config --check/],
	[['gateway', '--mcp-port', '1'], /--mcp-port is not valid for/, /bridge raw/],
	[['config', '--conn', 'x'], /--conn is not valid for/, /bridge decode/],
	[['--to', '--', ...puppet], /--to is not valid for/],
];

for (const [args, ...patterns] of wrong)
	test.serial(
		`rejects bridge ${args.filter(arg => !puppet.includes(arg)).join(' ')} with exit code 2 [U-P1-2]`,
		async t => {
			const {code, stdout, stderr} = await runBridge(args, '{"jsonrpc":"2.0","id":1,"method":"pid"}\n', {
				cwd: await newFolder(t),
			});
			t.is(code, 2, stderr);
			t.deepEqual(stdout, []);
			for (const pattern of patterns) t.regex(stderr, pattern);
			t.notRegex(stderr, /\n {4}at /);
			t.is(stderr.trimEnd().split('\n').length, 1);
		},
	);

test.serial('bridge without arguments on a terminal prints its help on stderr and exits with 2', async t => {
	const folder = await newFolder(t);
	const file = join(folder, 'stderr');
	const [code, stdout] = await onTerminal(t, `'${process.execPath}' '${bridgeBin}' 2> '${file}'`);
	t.is(code, 2);
	t.is(stdout, '');
	t.regex(await readFile(file, 'utf8'), /bridge \[flags\] -- COMMAND/);
});

const color = '\u001b[';

for (const [title, noColor, hasColor] of [
	['in color', undefined, true],
	['without color if NO_COLOR is set', '1', false],
	['in color if NO_COLOR is empty', '', true],
] as const)
	test.serial(`--debug prints its trace on a terminal ${title}`, async t => {
		const file = join(await newFolder(t), 'stdout');
		const {NO_COLOR: _, FORCE_COLOR: __, ...rest} = process.env;
		const env = noColor === undefined ? rest : {...rest, NO_COLOR: noColor};
		const bridge = [process.execPath, bridgeBin, '--debug', '--', ...puppet]
			.map(word => `'${word}'`)
			.join(' ');
		const call = '{"jsonrpc":"2.0","id":1,"method":"echo"}';
		const [code, text] = await onTerminal(t, `echo '${call}' | ${bridge} > '${file}'`, env);
		t.is(code, 0);
		t.regex(text, /echo/);
		t.is(text.includes(color), hasColor, text);
		t.is(await readFile(file, 'utf8'), '{"jsonrpc":"2.0","id":1,"result":{}}\n');
	});
