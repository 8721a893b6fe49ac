import {access, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {handshake, type Message, opening, runBridge, server} from '../../helpers/bridge.js';
import {
	errorOf,
	newFolder,
	newMarker,
	processesWith,
	start,
	startPuppet,
	startReady,
} from '../../helpers/program.js';

const [line] = handshake;
const initialize = `${line}\n`;

/** Checks that a command that cannot be started fails the handshake, and that bridge exits with 2. */
async function isUnusable(t: ExecutionContext, command: string, reason: RegExp): Promise<void> {
	const {code, stdout, stderr} = await runBridge(['--', command], initialize);
	t.is(code, 2);
	t.is(stdout.length, 1);
	const reply = JSON.parse(stdout[0] ?? '') as Message;
	t.like(reply, {
		id: 'first',
		error: {code: -31001, data: {source: 'bridge', kind: 'upstream_unavailable'}},
	});
	for (const text of [errorOf(reply).message, stderr]) {
		t.true(text.includes(command));
		t.regex(text, reason);
	}
	t.notRegex(stderr, /\n {4}at /);
}

test.serial('reports a missing command on stderr and to the client, and exits with 2 [U-P1-15] [E2]', t =>
	isUnusable(t, 'no-such-command-anywhere', /no such command/),
);

test.serial('exits when the command does not exist although stdin stays open [E2]', async t => {
	const running = start(t, ['--', 'no-such-command-anywhere']);
	t.is((await running.exited).code, 2);
	t.deepEqual(running.lines, []);
});

test.serial(
	'fails all requests to a missing command, and exits although stdin stays open [U-P1-15]',
	async t => {
		const running = start(t, ['--', 'no-such-command-anywhere']);
		running.sendText(initialize);
		running.send({id: 2, method: 'tools/list'});
		for (const id of ['first', 2]) t.is(errorOf(await running.answer(id)).code, -31001);
		t.is((await running.exited).code, 2);
		t.is(running.lines.length, 2);
	},
);

test.serial('reports a file that is not executable and exits with 2 [E2]', async t => {
	const file = join(await newFolder(t), 'server.txt');
	await writeFile(file, 'echo hello\n', {mode: 0o644});
	await isUnusable(t, file, /may not be executed/);
});

test.serial('reports a folder in place of a command and exits with 2 [E2]', async t =>
	isUnusable(t, await newFolder(t), /could not be started/),
);

test.serial('reports a script whose interpreter is missing and exits with 2 [E2]', async t => {
	const file = join(await newFolder(t), 'server');
	await writeFile(file, '#!/no/such/interpreter\n', {mode: 0o755});
	await isUnusable(t, file, /could not be started/);
});

test.serial('reports the stderr of a child that exits at once, and exits with its code [E2]', async t => {
	const running = start(t, [
		'--log-level',
		'error',
		'--',
		...server('puppet', '--words=There is no file config.toml here.\n', '--exit=7'),
	]);
	const {code, message, data} = errorOf(await running.request(1, 'initialize', opening));
	t.is(code, -31004);
	t.is(data.exitCode, 7);
	t.regex(message, /There is no file config\.toml here\./);
	t.is(await running.end(), 7);
	t.is(running.stderr, 'There is no file config.toml here.\n');
});

test.serial('redacts secrets in the stderr excerpt of a child from errors [K4]', async t => {
	const words = '--words=refused: api_key=canary-1 password: "canary-2" Authorization: Bearer canary-3\n';
	const running = start(t, ['--', ...server('puppet', words, '--exit=1')]);
	const reply = await running.request(1, 'initialize', opening);
	t.regex(errorOf(reply).message, /refused/);
	t.notRegex(JSON.stringify(reply), /canary/);
	t.is(await running.end(), 1);
});

test.serial('passes arguments to the child unchanged, without a shell [E3]', async t => {
	const folder = await newFolder(t);
	const args = ['; touch x', '$(touch x)', '`touch x`', '| touch x', '&& touch x', '> x', '*', '~', '$HOME'];
	const otherArgs = [
		'',
		' ',
		'--',
		'-x',
		'--debug',
		'a"b',
		"it's",
		'back\\slash',
		'two\nlines',
		'ünï',
		'%PATH%',
		'!x',
	];
	const running = await startReady(t, ['--', ...server('puppet', ...args, ...otherArgs)], {cwd: folder});
	const {result} = await running.request(1, 'argv');
	t.deepEqual(result, {argv: [...args, ...otherArgs]});
	t.is(await running.end(), 0);
	await t.throwsAsync(access(join(folder, 'x')));
});

test.serial('treats a command with shell characters as a literal name [E3]', async t => {
	const folder = await newFolder(t);
	const {code, stderr} = await runBridge(['--', 'true; touch x'], '', {cwd: folder});
	t.is(code, 2);
	t.regex(stderr, /true; touch x/);
	await t.throwsAsync(access(join(folder, 'x')));
});

const secrets = {
	AWS_SECRET_ACCESS_KEY: 'canary-aws',
	OPENAI_API_KEY: 'canary-openai',
	GITHUB_TOKEN: 'canary-github',
	BRIDGE_TOKEN: 'canary-bridge',
	DATABASE_URL: 'canary-db',
	NODE_OPTIONS: '',
	npm_config_token: 'canary-npm',
};

test.serial('passes the environment to a wrapped server, except BRIDGE_* [U-P0-1]', async t => {
	const env = {...process.env, ...secrets, BRIDGE_CONFIG: 'canary-config'};
	const {bridge} = await startPuppet(t, [], ['--env', 'GITHUB_TOKEN=explicit'], {env});
	const result = (await bridge.request(1, 'env')).result as {[name: string]: string};
	const {BRIDGE_TOKEN, GITHUB_TOKEN, ...others} = secrets;
	t.like(result, {...others, GITHUB_TOKEN: 'explicit', PATH: process.env.PATH});
	t.deepEqual(
		Object.keys(result).filter(name => name.startsWith('BRIDGE_')),
		['BRIDGE_OWNER'],
	);
	t.is(await bridge.end(), 0);
});

test.serial('starts a server of .mcp.json that needs a variable of its env [U-P0-1]', async t => {
	const script = `test -n "$GITHUB_TOKEN" || { echo GITHUB_TOKEN is required >&2; exit 1; }; exec "$@"`;
	const command = ['--', 'sh', '-c', script, 'sh', ...server('puppet', newMarker(t))];
	const running = await startReady(t, command, {env: {...process.env, GITHUB_TOKEN: 'abc'}});
	t.like(await running.request(1, 'echo', {a: 1}), {result: {a: 1}});
	t.is(await running.end(), 0);
});

test.serial('names variables that --clean-env withheld from a server that exits early [U-P0-1]', async t => {
	const many = Object.fromEntries(Array.from({length: 40}, (_, at) => [`A${at}`, 'canary']));
	const env = {PATH: process.env.PATH, ...many, ...secrets, SET: 'canary-set', 'odd name\u202e': 'canary'};
	const puppet = server('puppet', '--words=GITHUB_TOKEN is required\n', '--exit=1');
	const running = start(t, ['--clean-env', '--env', 'SET', '--', ...puppet], {env});
	const {code, message} = errorOf(await running.request(1, 'initialize', opening));
	t.is(code, -31004);
	t.regex(message, /did not pass these environment variables to it: GITHUB_TOKEN, .*, A0, /);
	t.regex(message, /, 27 more\. Pass one with --env NAME, or all by removing --clean-env\./);
	t.regex(message, /The end of its stderr: GITHUB_TOKEN is required$/m);
	t.notRegex(message, /canary|BRIDGE_TOKEN|SET|odd name|PATH/);
	t.is(await running.end(), 1);
});

test.serial('names no withheld variables when the environment was passed on [U-P0-1]', async t => {
	const env = {...process.env, ...secrets};
	const running = start(t, ['--', ...server('puppet', '--exit=1')], {env});
	const {message} = errorOf(await running.request(1, 'initialize', opening));
	t.is(message, 'puppet exited with code 1. It wrote nothing to stderr.\nFix the cause, then connect again.');
	t.is(await running.end(), 1);
});

test.serial('--clean-env passes PATH and HOME to the child, but no secrets [U-P0-1] [E10]', async t => {
	const env = {...process.env, ...secrets, HOME: '/home/user', LANG: 'C.UTF-8', LC_TIME: 'C'};
	const {bridge} = await startPuppet(t, [], ['--clean-env'], {env});
	const {result} = await bridge.request(1, 'env');
	t.notRegex(JSON.stringify(result), /canary/);
	t.like(result, {PATH: process.env.PATH, HOME: '/home/user', LANG: 'C.UTF-8', LC_TIME: 'C'});
	t.false(Object.hasOwn(result as object, 'NODE_OPTIONS'));
	t.is(await bridge.end(), 0);
});

test.serial('--env passes or sets a variable, and its value is not logged [E10]', async t => {
	const flags = [
		'--clean-env',
		'--env',
		'GITHUB_TOKEN',
		'--env',
		'SET=canary=with=signs',
		'--env=EMPTY=',
		'--env',
		'HOME=/elsewhere',
	];
	const env = {...process.env, ...secrets};
	const {bridge} = await startPuppet(t, [], [...flags, '--debug', '--log-level', 'trace'], {env});
	const result = (await bridge.request(1, 'env')).result as object;
	const expected = {GITHUB_TOKEN: 'canary-github', SET: 'canary=with=signs', EMPTY: '', HOME: '/elsewhere'};
	t.like(result, expected);
	t.false(Object.hasOwn(result, 'OPENAI_API_KEY'));
	t.is(await bridge.end(), 0);
	t.notRegex(bridge.stderr, /canary/);
});

test.serial(
	'times out a child that never responds to initialize, and stops it with the client [E2]',
	async t => {
		const marker = newMarker(t);
		const running = start(t, ['--timeout', '0.3', '--', ...server('late-reader', marker)]);
		t.like(await running.request(1, 'initialize', opening), {error: {code: -31002, data: {kind: 'timeout'}}});
		t.is(await running.end(), 0);
		t.deepEqual(processesWith(marker), []);
	},
);
