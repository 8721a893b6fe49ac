import process from 'node:process';
import test from 'ava';
import {type Flags, readInvocation} from '../../bin/flags.js';
import {noReplayFlags} from '../../bin/replay-flags.js';
import {noSessionFlags} from '../../bin/session-flags.js';
import {BridgeError} from '../../lib/errors.js';

const flagsOf = async (...argv: string[]): Promise<Flags> =>
	(await readInvocation([...argv, '--', 'server'])).flags;

const defaults: Flags = {
	help: false,
	version: false,
	debug: false,
	logLevel: 'info',
	log: undefined,
	logSecrets: false,
	flushMs: 2000,
	maxBufferBytes: 256 * 2 ** 20,
	onFull: 'gap',
	timeoutMs: undefined,
	env: {},
	url: undefined,
	headers: {},
	config: undefined,
	check: undefined,
	clientVersion: undefined,
	targetVersion: undefined,
	cacheTools: false,
	printClient: undefined,
	mcpPort: undefined,
	mcpToken: undefined,
	logRoot: undefined,
	rawLog: {log: undefined, format: undefined},
	conn: undefined,
	direction: undefined,
	live: undefined,
	port: undefined,
	session: noSessionFlags,
	companion: {
		repo: undefined,
		isJson: false,
		isPruning: false,
		isYes: false,
		isForUser: false,
		isFollowing: false,
		isListing: false,
		isRemoving: false,
	},
	replay: noReplayFlags,
};

test('has defaults for all that is not given', async t => {
	t.deepEqual(await readInvocation(['--', 'server']), {server: ['server'], words: [], flags: defaults});
	t.deepEqual((await readInvocation(['--timeout', '5'])).flags, {...defaults, timeoutMs: 5000});
});

test('FR-13.3 --resume takes an id, or none', async t => {
	const resumeOf = async (...argv: string[]) =>
		(await readInvocation(['serve', ...argv])).flags.session.resume;
	t.is(await resumeOf(), undefined);
	t.is(await resumeOf('--resume'), '');
	t.is(await resumeOf('--resume', '--debug'), '');
	t.is(await resumeOf('--resume', 'codex:1'), 'codex:1');
	t.is(await resumeOf('--resume=codex:1', '--fast'), 'codex:1');
});

test('FR-13.2 knows what may be said of sessions', async t => {
	const argv = [
		'--identity',
		'a',
		'--role',
		'b',
		'--model',
		'm',
		'--sandbox',
		'read-only',
		'--approval-policy',
		'never',
		'--fast',
	];
	const {flags, words} = await readInvocation(['serve', ...argv]);
	t.deepEqual(words, ['serve']);
	t.like(flags.session, {
		identity: 'a',
		role: 'b',
		model: 'm',
		sandbox: 'read-only',
		approvalPolicy: 'never',
		isFast: true,
	});
});

test('runs no server where there is no --', async t => {
	t.is((await readInvocation([])).server, undefined);
	t.is((await readInvocation(['--debug'])).server, undefined);
});

test('leaves all that follows -- to the server', async t => {
	const words = ['npx', '-y', '--debug', '--no-such-flag', '--', 'x'];
	const {server, flags} = await readInvocation(['--', ...words]);
	t.deepEqual(server, words);
	t.false(flags.debug);
});

test('knows an empty command from none', async t => {
	t.deepEqual((await readInvocation(['--'])).server, []);
});

test('keeps words before --', async t => {
	t.deepEqual((await readInvocation(['gateway', '--debug', 'x'])).words, ['gateway', 'x']);
});

for (const [words, expected] of [
	[['--help'], {help: true}],
	[['--version'], {version: true}],
	[['--cache-tools'], {cacheTools: true}],
	[['--debug'], {debug: true, logLevel: 'debug'}],
	[['--debug', '--log-level', 'warn'], {debug: true, logLevel: 'warn'}],
	[['--log-level', 'trace'], {logLevel: 'trace'}],
	[['--log-level=error'], {logLevel: 'error'}],
	[['--log', 'traffic.ndjson'], {log: {file: 'traffic.ndjson'}}],
	[['--log=a=b.ndjson'], {log: {file: 'a=b.ndjson'}}],
	[['--log', '007'], {log: {file: '007'}}],
	[['--log', '@logs'], {log: {folder: 'logs', format: 'rawprox_%Y-%m-%d-%H.ndjson'}}],
	[['--log', '@'], {log: {folder: '.', format: 'rawprox_%Y-%m-%d-%H.ndjson'}}],
	[['--log', '@d', '--filename-format', '%Y.log'], {log: {folder: 'd', format: '%Y.log'}}],
	[['--log-secrets'], {logSecrets: true}],
	[['--flush-millis', '50'], {flushMs: 50}],
	[['--max-buffer', '1.5MiB'], {maxBufferBytes: 1_572_864}],
	[['--on-full', 'wait'], {onFull: 'wait'}],
	[['--on-full', 'gap'], {onFull: 'gap'}],
	[['--timeout', '0'], {timeoutMs: 0}],
	[['--timeout', '1.5'], {timeoutMs: 1500}],
	[['--timeout=2'], {timeoutMs: 2000}],
	[['--config', 'bridge.yaml'], {config: 'bridge.yaml'}],
	[['--check=bridge.toml'], {check: 'bridge.toml'}],
	[['--env', 'A=1', '--env', 'B=x=y', '--env=C='], {env: {A: '1', B: 'x=y', C: ''}}],
	[['--env', 'A=1', '--env', 'A=2'], {env: {A: '2'}}],
	[['--env', 'N=007'], {env: {N: '007'}}],
	[['--env', 'Q="quoted"'], {env: {Q: '"quoted"'}}],
] as const)
	test(`understands ${words.join(' ')}`, async t => {
		t.deepEqual(await flagsOf(...words), {...defaults, ...expected} as Flags);
	});

test('passes a variable on that is named alone', async t => {
	process.env.BRIDGE_TEST_VARIABLE = 'own';
	t.deepEqual((await flagsOf('--env', 'BRIDGE_TEST_VARIABLE')).env, {BRIDGE_TEST_VARIABLE: 'own'});
});

for (const [words, sentence] of [
	[['--debgu'], /^There is no flag --debgu\. Did you mean --debug\?/],
	[['--log-levle=info'], /^There is no flag --log-levle\. Did you mean --log-level\?/],
	[['--logLevel', 'info'], /^There is no flag --logLevel\. Did you mean --log-level\?/],
	[['--timeuot', '5'], /^There is no flag --timeuot\. Did you mean --timeout\?/],
	[['--zzzzzzzzzzzz'], /^There is no flag --zzzzzzzzzzzz\. +bridge --help lists all/],
	[['-x'], /^There is no flag -x\./],
	[['-debug'], /^There is no flag -debug\. Did you mean --debug\?/],
	[['--no-timeout'], /--no-timeout/],
	[['--no-log'], /--no-log/],
	[['--debug=maybe'], /^--debug takes no value\./],
	[['--log'], /^--log has no value\. Write --log VALUE\./],
	[['--log='], /^--log has no value\./],
	[['--log', '--debug'], /^--log has no value\./],
	[['--env'], /^--env.*(?:no value|no name)/],
	[['--log', '-'], /^--log - would write to stdout, which carries MCP here\. Name a file/],
	[['--log', 'a', '--log', 'b'], /^--log is given 2 times\. Give it once\./],
	[['--timeout', '1', '--timeout', '2'], /^--timeout is given 2 times\./],
	[
		['--log-level', 'loud'],
		/^--log-level loud is not known\. It is one of error, warn, info, debug, trace\./,
	],
	[['--on-full', 'drop'], /^--on-full drop is not known\. It is one of gap, wait\./],
	[
		['--timeout', 'soon'],
		/^--timeout soon cannot be read\. It has to be a number of seconds, 0 for no limit\./,
	],
	[['--timeout=-5'], /^--timeout -5 cannot be read\./],
	[['--timeout', '9999999'], /^--timeout 9999999 cannot be read\./],
	[['--flush-millis', '2s'], /^--flush-millis 2s cannot be read\. It has to be a number of milliseconds\./],
	[['--max-buffer', 'lots'], /^--max-buffer lots cannot be read\. It has to be a size, like 256MiB\./],
	[['--filename-format', '%Y'], /^--filename-format needs a folder to name files in\. Add --log @DIR\./],
	[['--log', 'file', '--filename-format', '%Y'], /^--filename-format needs a folder/],
	[['--log', '@d', '--filename-format', '../%Y'], /^The format "\.\.\/%Y" does not name a file/],
	[['--env', '=x'], /^--env has a value without a name\./],
	[['--env', 'BRIDGE_NO_SUCH_VARIABLE'], /^--env BRIDGE_NO_SUCH_VARIABLE: there is no such variable/],
] as const)
	test(`refuses ${words.join(' ')}`, async t => {
		const error = await t.throwsAsync(flagsOf(...words), {
			instanceOf: BridgeError,
			code: 'ERR_CONFIG_INVALID',
		});
		t.regex(error?.sentence ?? '', sentence);
		t.is(error?.exitCode, 2);
	});

test('repeats no value of a variable in an error', async t => {
	const error = await t.throwsAsync(flagsOf('--env', '=hunter2'));
	t.false((error as BridgeError | undefined)?.sentence.includes('hunter2'));
});
