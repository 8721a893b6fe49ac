import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {handshake, runBridge, server} from '../../helpers/bridge.js';
import {stdinMessages} from '../../helpers/ndjson.js';
import {newFolder, newMarker, processesWith, start, until} from '../../helpers/program.js';

const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** Runs `bridge versions` for a server command. */
const runVersions = (command: readonly string[], ...flags: string[]) =>
	runBridge(['versions', ...flags, '--', ...command]);

test.serial('reports versions and features of a server, and the losses of each client version', async t => {
	const {code, stdout, stderr} = await runVersions(server('speaker', ...versions));
	t.is(code, 0);
	t.is(stderr, '');
	const text = stdout.join('\n');
	t.regex(stdout[0] ?? '', /: speaker 3$/);
	t.true(text.includes(`speaks      ${versions.join(', ')}\n`));
	t.true(text.includes('not 2026-07-28: Method not found: server/discover'));
	t.regex(text, /offers +2 tools, 0 prompts, 0 resources, 0 templates; capabilities: tools, resources\n/);
	t.regex(text, /bridge, which speaks 2025-11-25 with it/);
	t.regex(text, /2025-11-25 {2}nothing\n/);
	t.regex(text, /2024-11-05 {2}audio arrives as an embedded resource\n/);
	t.regex(
		text,
		/2025-03-26 {2}links to resources arrive as text\n +elicitation is rejected\n +structured output/,
	);
});

test.serial('reports the version that a server returns instead of the requested one', async t => {
	const {code, stdout} = await runVersions(server('speaker', '2024-11-05'));
	t.is(code, 0);
	const text = stdout.join('\n');
	t.regex(text, /speaks +2024-11-05\n/);
	for (const version of versions.slice(1)) t.true(text.includes(`2024-11-05 when ${version} is requested`));
	t.regex(text, /speaks 2024-11-05 with it/);
});

test.serial('reports rejected versions with the reason of the server', async t => {
	const {code, stdout} = await runVersions(server('speaker', '--refuse', '2025-03-26'));
	t.is(code, 0);
	const text = stdout.join('\n');
	t.regex(text, /speaks +2025-03-26\n/);
	t.true(text.includes('not 2025-11-25: I do not speak 2025-11-25'));
	t.regex(text, /2025-06-18 {2}nothing\n/);
});

test.serial('uses the stateless protocol with a server without handshake', async t => {
	const {code, stdout} = await runVersions(server('speaker', '2026-07-28'));
	t.is(code, 0);
	const text = stdout.join('\n');
	t.regex(stdout[0] ?? '', /: speaker 3$/);
	t.regex(text, /speaks +2026-07-28\n/);
	t.regex(text, /offers +2 tools/);
	t.regex(text, /speaks 2026-07-28 with it/);
	t.regex(text, /2025-11-25 {2}output that is not an object is wrapped in an object\n/);
});

test.serial('prefers the handshake with a server of both eras', async t => {
	const {stdout} = await runVersions(server('speaker', '2025-11-25', '2026-07-28'));
	const text = stdout.join('\n');
	t.regex(text, /speaks +2025-11-25, 2026-07-28\n/);
	t.regex(text, /speaks 2025-11-25 with it/);
});

test.serial('exits with 1 and the reasons if the server rejects all versions', async t => {
	const {code, stdout, stderr} = await runVersions(server('speaker'));
	t.is(code, 1);
	t.deepEqual(stdout, []);
	t.regex(
		stderr,
		/supports no protocol version that bridge knows.*I do not speak 2024-11-05.*Method not found: server\/discover/s,
	);
});

test.serial('selects the same version as bridge for a server that returns an unknown version', async t => {
	const {code, stdout} = await runVersions(server('speaker', '1999-01-01'));
	t.is(code, 0);
	const text = stdout.join('\n');
	t.regex(text, /speaks +no version that bridge knows\n/);
	t.true(text.includes('1999-01-01 when 2025-11-25 is requested'));
	t.regex(text, /which speaks 2025-11-25 with it/);
});

test.serial('exits with 1 if the program is not an MCP server', async t => {
	const {code, stdout, stderr} = await runVersions(['cat']);
	t.is(code, 1);
	t.deepEqual(stdout, []);
	t.regex(stderr, /^bridge: cat supports no protocol version that bridge knows/m);
});

test.serial('exits with 1 and the stderr of a program that exits at once', async t => {
	const {code, stdout, stderr} = await runVersions(server('puppet', '--exit=3', '--words=no licence\n'));
	t.is(code, 1);
	t.deepEqual(stdout, []);
	t.regex(stderr, /no licence/);
});

test.serial('exits with 1 after --timeout if the program does not respond', async t => {
	const {code, stderr} = await runVersions(['sleep', '1000'], '--timeout', '0.2');
	t.is(code, 1);
	t.regex(stderr, /did not respond to initialize within 0\.2 s/);
});

test.serial('exits with 2 if the command does not exist', async t => {
	const {code, stdout, stderr} = await runVersions(['no-such-command-anywhere']);
	t.deepEqual(stdout, []);
	t.regex(stderr, /no-such-command-anywhere/);
	t.is(code, 2);
});

for (const [title, args] of [
	['no server', ['versions']],
	['a server without --', ['versions', 'some-server']],
	['no command after --', ['versions', '--']],
] as const)
	test.serial(`rejects ${title} with exit code 2`, async t => {
		const {code, stdout, stderr} = await runBridge(args);
		t.is(code, 2);
		t.deepEqual(stdout, []);
		t.regex(stderr, /bridge versions -- /);
	});

test.serial('escapes control characters in the name of a server', async t => {
	const script = String.raw`
		const hostile = {protocolVersion: '2025-11-25', capabilities: {'a\u001b[2J': {}}, serverInfo: {name: 'a\u001b[31m\nb'}};
		${stdinMessages}.on('data', ({id, method}) => {
			const response = method === 'initialize' ? {result: hostile} : {error: {code: -32601, message: 'no \u001b[2J'}};
			if (id !== undefined) console.log(JSON.stringify({jsonrpc: '2.0', id, ...response}));
		});`;
	const {code, stdout} = await runVersions(['node', '-e', script]);
	t.is(code, 0);
	t.false(stdout.join('\n').includes('\u001b'));
	t.false(stdout.includes('b'));
});

test.serial('leaves no processes behind', async t => {
	const marker = newMarker(t);
	t.is((await runVersions(server('speaker', ...versions, `--${marker}`))).code, 0);
	await until(() => processesWith(marker).length === 0);
	t.pass();
});

test.serial('a signal stops all started processes and prints nothing on stdout', async t => {
	const marker = newMarker(t);
	const running = start(t, ['versions', '--', process.execPath, '-e', 'setInterval(() => {}, 1e9)', marker]);
	await until(() => processesWith(marker).length > 1);
	running.child.kill('SIGTERM');
	t.is((await running.exited).signal, null);
	t.deepEqual(running.lines, []);
	await until(() => processesWith(marker).length === 0);
});

test.serial('rejects an invalid URL, an unsupported scheme and two servers', async t => {
	for (const [args, reason] of [
		[['versions', '--url', 'nowhere'], /is not a valid URL/],
		[['versions', '--url', 'ftp://example.com'], /is not http, https, ws or wss/],
		[['versions', '--url', 'http://127.0.0.1:1/', '--', 'cat'], /--url and a command/],
		[['--url', 'http://127.0.0.1:1/', '--', 'cat'], /--url and a command/],
		[['versions'], /bridge versions needs a server/],
	] as const) {
		const {code, stderr} = await runBridge([...args]);
		t.is(code, 2, args.join(' '));
		t.regex(stderr, reason);
	}
});

test.serial(
	'reports an unreachable server with its address and one remedy, with exit code 1 [U-P1-18]',
	async t => {
		const {code, stderr} = await runBridge(['versions', '--url', 'http://127.0.0.1:1/mcp']);
		t.is(code, 1);
		t.regex(
			stderr,
			/^bridge: The request to 127\.0\.0\.1:1 failed: the connection was refused\. Check that it is running, [^.]*\.\n$/,
		);
	},
);

test.serial('versions and replay pass on the environment, but not with --clean-env [U-P0-1]', async t => {
	const script = `test -n "$SOME_TOKEN" || exit 3; exec "$@"`;
	const needy = ['--', 'sh', '-c', script, 'sh', ...server('speaker', '2025-11-25')];
	const env = {...process.env, SOME_TOKEN: 'abc'};
	t.is((await runBridge(['versions', ...needy], '', {env})).code, 0);
	const {code, stderr} = await runBridge(['versions', '--clean-env', ...needy], '', {env});
	t.is(code, 1);
	t.regex(stderr, /sh exited with code 3/);
	const log = join(await newFolder(t), 'log.ndjson');
	const recorded = await runBridge(['--log', log, ...needy], `${handshake.join('\n')}\n`, {env, answers: 1});
	t.is(recorded.code, 0);
	t.is((await runBridge(['replay', log, ...needy], '', {env})).code, 0);
	t.is((await runBridge(['replay', log, '--clean-env', ...needy], '', {env})).code, 1);
});
