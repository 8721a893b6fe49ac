import process from 'node:process';
import test from 'ava';
import {commands} from '../../../../bin/commands/index.js';
import {resolveCommand} from '../../../../bin/shared/cli/resolve.js';
import {BridgeError} from '../../../../lib/core/errors.js';

/** Resolves a command line. Returns the command name and its parsed input. */
async function run(...argv: string[]) {
	const found = await resolveCommand(argv, commands);
	if (found.kind !== 'run') throw new Error(`${argv.join(' ')} is ${found.kind}`);
	return {name: found.name, ...found.input};
}

const optionsOf = async (...argv: string[]) => (await run(...argv, '--', 'server')).options;

const defaults = {
	debug: false,
	logLevel: 'info',
	logFormat: undefined,
	log: undefined,
	logSecrets: false,
	filenameFormat: undefined,
	flushMillis: 2000,
	maxBuffer: 256 * 2 ** 20,
	onFull: 'gap',
	timeout: undefined,
	env: {},
	cleanEnv: false,
	clientVersion: undefined,
	targetVersion: undefined,
	cacheTools: false,
};

test('uses defaults for missing flags', async t => {
	t.deepEqual(await run('--', 'server'), {
		name: 'wrap',
		positionals: [],
		upstreamCommand: ['server'],
		options: defaults,
	});
	t.deepEqual(await optionsOf('--timeout', '5'), {...defaults, timeout: 5000});
});

for (const [argv, name] of [
	[[], 'filter'],
	[['--debug'], 'filter'],
	[['--log', 'gateway'], 'filter'],
	[['--url', 'http://127.0.0.1:1/'], 'url'],
	[['--url=http://127.0.0.1:1/'], 'url'],
	[['--', 'gateway'], 'wrap'],
	[['gateway', '--debug'], 'gateway'],
	[['--debug', '--config', 'hub', 'gateway'], 'gateway'],
	[['--timeout=5', 'hub'], 'hub'],
] as const)
	test(`bridge ${argv.join(' ')} runs ${name}`, async t => {
		t.is((await run(...argv)).name, name);
	});

for (const [argv, kind] of [
	[['--help'], 'help'],
	[['-h'], 'help'],
	[['raw', '-h', '--no-such-flag'], 'help'],
	[['--version'], 'version'],
	[['-v'], 'version'],
] as const)
	test(`bridge ${argv.join(' ')} prints the ${kind} [U-P1-3]`, async t => {
		t.is((await resolveCommand(argv, commands)).kind, kind);
	});

test('--resume takes an optional id [FR-13.3]', async t => {
	const resumeOf = async (...argv: string[]) => (await run('serve', ...argv)).options.resume;
	t.is(await resumeOf(), undefined);
	t.is(await resumeOf('--resume'), '');
	t.is(await resumeOf('--resume', '--debug'), '');
	t.is(await resumeOf('--resume', 'codex:1'), 'codex:1');
	t.is(await resumeOf('--resume=codex:1', '--fast'), 'codex:1');
});

test('parses the flags of sessions [FR-13.2]', async t => {
	const flags = {identity: 'a', role: 'b', model: 'm', sandbox: 'read-only', approvalPolicy: 'never'};
	const argv = ['--identity', 'a', '--role', 'b', '--model', 'm', '--sandbox', 'read-only'];
	t.like((await run('serve', ...argv, '--approval-policy', 'never')).options, flags);
	t.true((await run('serve', '--fast')).options.fast);
});

test('rejects --model together with --fast [S-D12]', async t => {
	await t.throwsAsync(run('serve', '--model', 'a', '--fast'), {
		message: '--model and --fast exclude each other.',
	});
});

test('passes all arguments after -- to the server', async t => {
	const words = ['npx', '-y', '--debug', '--no-such-flag', '--', 'x'];
	const {upstreamCommand: server, options} = await run('--', ...words);
	t.deepEqual(server, words);
	t.false(options.debug);
});

test('returns positional arguments', async t => {
	t.deepEqual((await run('decode', 'a', '--from', 'b')).positionals, ['a', 'b']);
});

test('each flag takes a value in all commands or in none, so that it may precede command names', async t => {
	const kinds = new Map<string, boolean>();
	for (const {title, command} of await commands.all())
		for (const [key, {value}] of Object.entries(command.options)) {
			t.is(kinds.get(key) ?? value !== undefined, value !== undefined, `${key} of ${title}`);
			kinds.set(key, value !== undefined);
		}
});

for (const [words, expected] of [
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
	[
		['--log', '@d', '--filename-format', '%Y.log'],
		{log: {folder: 'd', format: '%Y.log'}, filenameFormat: '%Y.log'},
	],
	[['--log-secrets'], {logSecrets: true}],
	[['--flush-millis', '50'], {flushMillis: 50}],
	[['--max-buffer', '1.5MiB'], {maxBuffer: 1_572_864}],
	[['--on-full', 'wait'], {onFull: 'wait'}],
	[['--on-full', 'gap'], {onFull: 'gap'}],
	[['--timeout', '0'], {timeout: 0}],
	[['--timeout', '1.5'], {timeout: 1500}],
	[['--timeout=2'], {timeout: 2000}],
	[['--env', 'A=1', '--env', 'B=x=y', '--env=C='], {env: {A: '1', B: 'x=y', C: ''}}],
	[['--env', 'A=1', '--env', 'A=2'], {env: {A: '2'}}],
	[['--env', 'N=007'], {env: {N: '007'}}],
	[['--env', 'Q="quoted"'], {env: {Q: '"quoted"'}}],
] as const)
	test(`parses ${words.join(' ')}`, async t => {
		t.deepEqual(await optionsOf(...words), {...defaults, ...expected});
	});

test('passes on a variable that is set without a value', async t => {
	process.env.BRIDGE_TEST_VARIABLE = 'own';
	t.deepEqual((await optionsOf('--env', 'BRIDGE_TEST_VARIABLE')).env, {BRIDGE_TEST_VARIABLE: 'own'});
});

for (const [words, sentence] of [
	[['--debgu'], /^Unknown flag --debgu\. Did you mean --debug\?/],
	[['--log-levle=info'], /^Unknown flag --log-levle\. Did you mean --log-level\?/],
	[['--logLevel', 'info'], /^Unknown flag --logLevel\. Did you mean --log-level\?/],
	[['--timeuot', '5'], /^Unknown flag --timeuot\. Did you mean --timeout\?/],
	[['--zzzzzzzzzzzz'], /^Unknown flag --zzzzzzzzzzzz\. See bridge --help\./],
	[['-x'], /^Unknown flag -x\. See bridge --help\./],
	[['-c'], /^Unknown flag -c\. See bridge --help\./],
	[['-V'], /^Unknown flag -V\. See bridge --help\./],
	[['-debug'], /^Unknown flag -debug\. Did you mean --debug\?/],
	[['--no-timeout'], /--no-timeout/],
	[['--no-log'], /--no-log/],
	[['--debug=maybe'], /^--debug takes no value\./],
	[['--log'], /^--log needs a value\. Write --log FILE\./],
	[['--log='], /^--log needs a value\./],
	[['--log', '--debug'], /^--log needs a value\./],
	[['--env'], /^--env.*(?:a value|no name)/],
	[['--log', '-'], /^--log - would write to stdout, which carries MCP here\. Use a file/],
	[['--log', 'a', '--log', 'b'], /^--log is set 2 times\. Set it once\./],
	[['--timeout', '1', '--timeout', '2'], /^--timeout is set 2 times\./],
	[
		['--log-level', 'loud'],
		/^Unknown value "loud" for --log-level\. Use one of error, warn, info, debug, trace\./,
	],
	[['--on-full', 'drop'], /^Unknown value "drop" for --on-full\. Use one of gap, wait\./],
	[['--timeout', 'soon'], /^--timeout soon is not valid\. Expected a number of seconds, 0 for no limit\./],
	[['--timeout=-5'], /^--timeout -5 is not valid\./],
	[['--timeout', '9999999'], /^--timeout 9999999 is not valid\./],
	[['--flush-millis', '2s'], /^--flush-millis 2s is not valid\. Expected a number of milliseconds\./],
	[['--max-buffer', 'lots'], /^--max-buffer lots is not valid\. Expected a size, like 256MiB\./],
	[['--filename-format', '%Y'], /^--filename-format needs a log folder\. Add --log @DIR\./],
	[['--log', 'file', '--filename-format', '%Y'], /^--filename-format needs a log folder/],
	[['--log', '@d', '--filename-format', '../%Y'], /^The format "\.\.\/%Y" does not name a file/],
	[['--env', '=x'], /^--env has a value without a name\./],
	[['--env', 'BRIDGE_NO_SUCH_VARIABLE'], /^--env BRIDGE_NO_SUCH_VARIABLE: the variable is not set/],
] as const)
	test(`rejects ${words.join(' ')}`, async t => {
		const error = await t.throwsAsync(optionsOf(...words), {
			instanceOf: BridgeError,
			code: 'ERR_CONFIG_INVALID',
		});
		t.regex(error?.sentence ?? '', sentence);
		t.is(error?.exitCode, 2);
	});

test('errors do not contain the values of variables', async t => {
	const error = await t.throwsAsync(optionsOf('--env', '=hunter2'));
	t.false((error as BridgeError | undefined)?.sentence.includes('hunter2'));
});
