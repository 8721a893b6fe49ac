import {readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {commands} from '../../../bin/commands/index.js';
import {checkReplayFlags} from '../../../bin/commands/replay/check-flags.js';
import type {ReplayFlags} from '../../../bin/commands/replay/options.js';
import {resolveCommand} from '../../../bin/shared/cli/resolve.js';
import type {BridgeError} from '../../../lib/core/errors.js';
import {runBridge} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';
import {asking, linesOfLog, logLine, recordAsking, TOKEN} from '../../replay/support.js';

const replay = (log: string, ...args: string[]) => runBridge(['replay', log, ...args]);

test('a replay against the same server reports no differences on either side of bridge', async t => {
	const log = await recordAsking(t, '--target-version', '2024-11-05');
	for (const side of ['client', 'upstream']) {
		const {code, stdout, stderr} = await replay(log, ...TOKEN, '--side', side, '--', ...asking());
		t.is(code, 0, stdout.join('\n') + stderr);
		t.regex(stdout.at(-1) ?? '', /^✓ 10 compared: 10 same/);
	}
	const {stderr} = await replay(log, ...TOKEN, '--', ...asking());
	t.regex(stderr, /--side upstream replays the translated messages/);
	const strict = await replay(log, ...TOKEN, '--strict', '--', ...asking());
	t.is(strict.code, 1);
	t.regex(strict.stdout.join('\n'), /tools\/call now\n {4}\/result\/content\/0\/text\n {4}- "It is /);
});

test('reports the differences of a changed server on stdout and in a JUnit report', async t => {
	const log = await recordAsking(t);
	const report = join(await newFolder(t), 'junit.xml');
	const {code, stdout} = await replay(log, ...TOKEN, '--junit', report, '--', ...asking('--changed'));
	t.is(code, 1);
	const text = stdout.join('\n');
	for (const part of [
		'✗ 1 initialize\n    /result/serverInfo/version\n    - "1"\n    + "2"\n',
		'✗ 2 tools/list\n    /result/tools/now  is missing\n',
		'✗ 3 tools/call echo\n    /result/content/0/text\n    - "Echo: hello"\n    + "You said: hello"\n',
		'elicitation/create (server request)\n    /params/message\n    - "Name?"\n    + "Who are you?"\n',
	])
		t.true(text.includes(part), `${part} in ${text}`);
	t.regex(stdout.at(-1) ?? '', /^✗ 10 compared: 6 same, 4 different/);
	const xml = readFileSync(report, 'utf8');
	t.regex(xml, /<testsuite name="[^"]+" tests="10" failures="4" skipped="0"/);
	t.regex(
		xml,
		/<testcase classname="[^"]+" name="3 tools\/call echo" time="[\d.]+"><failure message="The response differs in 1 places\.">/,
	);
	const ignored = ['/result/serverInfo', '/result/tools', '/result/content/*/text', '/params/message'];
	const lenient = await replay(
		log,
		...TOKEN,
		...ignored.flatMap(one => ['--ignore', one]),
		'--',
		...asking('--changed'),
	);
	t.is(lenient.code, 0, lenient.stdout.join('\n'));
});

test('requires the values of secrets, which are not in the log', async t => {
	const log = await recordAsking(t);
	const without = await replay(log, '--', ...asking());
	t.is(without.code, 2);
	t.regex(
		without.stderr,
		/\/params\/arguments\/token in tools\/call\nSet each with --set \/params\/arguments\/token=VALUE/,
	);
	const wrong = await replay(log, '--set', '/params/arguments/token=swordfish', '--', ...asking());
	t.is(wrong.code, 1);
	t.true(wrong.stdout.join('\n').includes('+ "go away"'));
	t.false(wrong.stdout.join('\n').includes('swordfish'));
});

test('--update replaces the recorded responses and keeps other connections', async t => {
	const log = await recordAsking(t);
	const other = logLine('someone', 'else', {jsonrpc: '2.0', method: 'kept'}, {ConnID: 'other'});
	writeFileSync(log, `${other}\n${readFileSync(log, 'utf8')}`);
	const {code, stdout} = await replay(log, ...TOKEN, '--update', '--', ...asking('--changed'));
	t.is(code, 0);
	t.is(stdout.at(-1), 'The recording was updated.');
	t.is(statSync(log).mode & 0o777, 0o600);
	t.false(readFileSync(log, 'utf8').includes('hunter2'));
	t.is(linesOfLog(log)[0]?.ConnID, 'other');
	const again = await replay(log, ...TOKEN, '--', ...asking('--changed'));
	t.is(again.code, 0, again.stdout.join('\n'));
});

test('reports the exit of the server and the remaining requests, and keeps the recording', async t => {
	const log = join(await newFolder(t), 'log.ndjson');
	const call = (id: number, name: string): string[] => [
		logLine('client', 'it', {
			jsonrpc: '2.0',
			id,
			method: 'tools/call',
			params: {name, arguments: {message: 'a'}},
		}),
		logLine('it', 'client', {jsonrpc: '2.0', id, result: {content: [{type: 'text', text: 'Echo: a'}]}}),
	];
	const content = [...call(1, 'echo'), ...call(2, 'die'), ...call(3, 'echo')].join('\n');
	writeFileSync(log, content);
	const {code, stdout} = await replay(log, '--update', '--', ...asking());
	t.is(code, 1);
	const text = stdout.join('\n');
	t.regex(text, /✗ 2 tools\/call die\n {4}No response\. .*exited with code 3/);
	t.regex(text, /✗ 3 compared: 1 same, 1 failed, 1 not tried/);
	t.is(readFileSync(log, 'utf8'), content);
});

test('a server that cannot be started is a usage error, and --timeout limits the wait for a response', async t => {
	const log = join(await newFolder(t), 'log.ndjson');
	const lines = [
		logLine('client', 'it', {jsonrpc: '2.0', id: 1, method: 'ping'}),
		logLine('it', 'client', {jsonrpc: '2.0', id: 1, result: {}}),
	];
	writeFileSync(log, lines.join('\n'));
	const missing = await replay(log, '--', 'no-such-command-anywhere');
	t.is(missing.code, 2);
	t.regex(missing.stderr, /no-such-command-anywhere could not be started/);
	const silent = await replay(log, '--timeout', '0.2', '--', 'sleep', '60');
	t.is(silent.code, 1);
	t.regex(silent.stdout.join('\n'), /No response/);
	const unreachable = await replay(log, '--url', 'http://127.0.0.1:1/mcp');
	t.is(unreachable.code, 1);
	t.regex(unreachable.stdout.join('\n'), /1 different/);
});

/** Invalid usages, and patterns for their errors. */
const wrong: ReadonlyArray<readonly [args: readonly string[], pattern: RegExp]> = [
	[[], /bridge replay needs a log/],
	[['LOG'], /bridge replay needs a server/],
	[['LOG', 'other', '--', 'cat'], /Unexpected argument "other" for bridge replay/],
	[['LOG', '--url', 'http://127.0.0.1:1/', '--', 'cat'], /--url and a command/],
	[['LOG', '--serve', '--', 'cat'], /--serve and a live server exclude each other/],
	[['LOG', '--serve', '--junit', 'x'], /--junit is not valid with --serve/],
	[['LOG', '--listen', '7000', '--', 'cat'], /--listen only applies to --serve/],
	[['LOG', '--serve', '--listen', 'nowhere'], /is not valid/],
	[['LOG', '--serve', '--listen', '0.0.0.0:7000'], /is reachable from other machines/],
	[['LOG', '--update', '--log', 'x', '--', 'cat'], /--update writes to LOG itself/],
	[['LOG', '--raw', '--', 'cat'], /needs the address of a socket/],
	[['LOG', '--raw', '--serve'], /needs an address to listen on/],
	[['LOG', '--raw', '--strict', '--url', 'tcp://a:1'], /--strict is not valid with --raw/],
	[['LOG', '--raw', '--url', 'http://a/'], /not a TCP address/],
	[['LOG', '--ignore', 'result', '--', 'cat'], /not a JSON pointer/],
	[['LOG', '--set', '/a', '--', 'cat'], /has no value/],
	[['LOG', '--timing', 'slow', '--', 'cat'], /Unknown value "slow" for --timing/],
	[['LOG', '--cache-tools', '--', 'cat'], /--cache-tools is not valid for bridge replay/],
];

async function inputOf(...args: readonly string[]) {
	const found = await resolveCommand(['replay', ...args], commands);
	if (found.kind !== 'run') throw new Error(found.kind);
	return found.input;
}

test('rejects invalid flags and parses the values of --set', async t => {
	for (const [args, pattern] of wrong) {
		const error = await t.throwsAsync(async () => {
			const {positionals: words, upstreamCommand: server, options} = await inputOf(...args);
			checkReplayFlags(words, server, options as ReplayFlags);
		});
		t.regex(error?.message ?? '', pattern, args.join(' '));
		t.is((error as BridgeError).exitCode, 2);
	}
	const {options} = await inputOf(
		'LOG',
		'--set',
		'/a/b=x=y',
		'--set',
		'/c={"d":1}',
		'--set',
		'/e={',
		'--',
		'cat',
	);
	t.deepEqual(
		(options as ReplayFlags).set.map(({value}) => value),
		['x=y', {d: 1}, '{'],
	);
});

test('rejects a missing log or connection, or several servers, with exit code 2', async t => {
	const log = join(await newFolder(t), 'log.ndjson');
	const line = (ConnID: string, to: string): string =>
		logLine('client', to, {jsonrpc: '2.0', method: 'm'}, {ConnID});
	writeFileSync(log, `${line('A', 'one')}\n${line('B', 'two')}\n`);
	for (const [args, pattern] of [
		[['/no/such/log'], /\/no\/such\/log cannot be read/],
		[[log, '--conn', 'nobody'], /no connection nobody/],
		[
			[log],
			/several servers in the log:\n {2}A {2}client → one, messages: 1\n {2}B {2}client → two, messages: 1\n/,
		],
	] as const) {
		const {code, stderr} = await runBridge(['replay', ...args, '--', 'cat']);
		t.is(code, 2, args.join(' '));
		t.regex(stderr, pattern, args.join(' '));
	}
	const {code, stdout} = await runBridge(['replay', '--help']);
	t.is(code, 0);
	t.true(stdout.join('\n').includes('--ignore POINTER'));
});

const BAD = '<script>alert(1)</script>\u001b[31m\u001b]0;pwn\u0007"\'&\u202e\u009b1m';

/** Creates a log whose every field is malicious, with messages of 50 MB and a torn end. */
function hostileLog(): string {
	const message = (from: string, to: string, body: object): string =>
		logLine(from, to, {jsonrpc: '2.0', ...body});
	const params = {name: 'echo', arguments: {message: BAD, big: 'x'.repeat(50 * 2 ** 20)}};
	const lines = [
		message('client', BAD, {id: BAD, method: 'tools/call', params: {name: BAD}}),
		message(BAD, 'client', {id: BAD, error: {code: 1, message: BAD, [BAD]: BAD}}),
		message('client', BAD, {id: 1, method: 'tools/call', params}),
		message(BAD, 'client', {
			id: 1,
			result: {[BAD]: BAD, content: [{type: 'text', text: 'y'.repeat(50 * 2 ** 20)}]},
		}),
		message('client', BAD, {id: 2, method: BAD}),
	];
	return lines.join('\n').slice(0, -10);
}

/** Asserts that a text contains no control or bidi characters. */
function assertHarmless(t: ExecutionContext, text: string): void {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: the test detects these characters.
	t.notRegex(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
}

test('a malicious log cannot affect the terminal or the report', async t => {
	const folder = await newFolder(t);
	const [log, report] = [join(folder, 'log.ndjson'), join(folder, 'junit.xml')];
	writeFileSync(log, hostileLog());
	const {code, stdout, stderr} = await replay(log, '--junit', report, '--', ...asking());
	t.is(code, 1);
	t.regex(stdout.join('\n'), /✗ 2 compared: 0 same, 2 different/);
	assertHarmless(t, stdout.join('\n'));
	assertHarmless(t, stderr);
	t.regex(stderr, /Unreadable lines were skipped: 1/);
	t.true(stdout.join('\n').length < 10_000);
	const xml = readFileSync(report, 'utf8');
	assertHarmless(t, xml);
	t.false(xml.includes('<script>'));
	const serve = await runBridge(['replay', log, '--serve'], '', {});
	t.is(serve.code, 0);
	assertHarmless(t, serve.stderr);
});
