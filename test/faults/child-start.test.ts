import {access, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {handshake, opening, runBridge, server} from '../helpers/bridge.js';
import {errorOf, newFolder, newMarker, processesWith, start, startPuppet, startReady} from './support.js';

const [line] = handshake;
const initialize = `${line}\n`;

test.serial('E2 a command that does not exist is a clear error, exit 2, and nothing on stdout', async t => {
	const {code, stdout, stderr} = await runBridge(['--', 'no-such-command-anywhere'], initialize);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.regex(stderr, /no-such-command-anywhere/);
	t.regex(stderr, /no such command/);
	t.notRegex(stderr, /\n {4}at /);
});

test.serial('E2 a command that does not exist ends bridge although its stdin stays open', async t => {
	const running = start(t, ['--', 'no-such-command-anywhere']);
	t.is((await running.exited).code, 2);
	t.deepEqual(running.lines, []);
});

test.serial('E2 a file that is not executable is a clear error, and exit 2', async t => {
	const file = join(await newFolder(t), 'server.txt');
	await writeFile(file, 'echo hello\n', {mode: 0o644});
	const {code, stdout, stderr} = await runBridge(['--', file], initialize);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.true(stderr.includes(file));
	t.regex(stderr, /may not be executed/);
});

test.serial('E2 a folder in place of a command is a clear error, and exit 2', async t => {
	const folder = await newFolder(t);
	const {code, stdout, stderr} = await runBridge(['--', folder], initialize);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.true(stderr.includes(folder));
});

test.serial('E2 a script whose interpreter is missing is a clear error, and exit 2', async t => {
	const file = join(await newFolder(t), 'server');
	await writeFile(file, '#!/no/such/interpreter\n', {mode: 0o755});
	const {code, stdout, stderr} = await runBridge(['--', file], initialize);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.true(stderr.includes(file));
});

test.serial(
	'E2 a child that exits at once fails initialize with its last words, and bridge ends with its code',
	async t => {
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
	},
);

test.serial('K4 a secret among the last words of a child does not get into the error', async t => {
	const words = '--words=refused: api_key=canary-1 password: "canary-2" Authorization: Bearer canary-3\n';
	const running = start(t, ['--', ...server('puppet', words, '--exit=1')]);
	const answer = await running.request(1, 'initialize', opening);
	t.regex(errorOf(answer).message, /refused/);
	t.notRegex(JSON.stringify(answer), /canary/);
	t.is(await running.end(), 1);
});

test.serial('E3 arguments reach the child as they are, and no shell sees them', async t => {
	const folder = await newFolder(t);
	const args = ['; touch x', '$(touch x)', '`touch x`', '| touch x', '&& touch x', '> x', '*', '~', '$HOME'];
	const more = [
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
	const running = await startReady(t, ['--', ...server('puppet', ...args, ...more)], {cwd: folder});
	const {result} = await running.request(1, 'argv');
	t.deepEqual(result, {argv: [...args, ...more]});
	t.is(await running.end(), 0);
	await t.throwsAsync(access(join(folder, 'x')));
});

test.serial('E3 a command with shell characters in its name is looked for under that name', async t => {
	const folder = await newFolder(t);
	const {code, stderr} = await runBridge(['--', 'true; touch x'], '', {cwd: folder});
	t.is(code, 2);
	t.regex(stderr, /true; touch x/);
	await t.throwsAsync(access(join(folder, 'x')));
});

const secrets = {
	...{AWS_SECRET_ACCESS_KEY: 'canary-aws', OPENAI_API_KEY: 'canary-openai', GITHUB_TOKEN: 'canary-github'},
	...{
		BRIDGE_TOKEN: 'canary-bridge',
		DATABASE_URL: 'canary-db',
		NODE_OPTIONS: '',
		npm_config_token: 'canary-npm',
	},
};

test.serial(
	'E10 secrets in the environment of bridge are not in that of the child, PATH and HOME are',
	async t => {
		const env = {...process.env, ...secrets, HOME: '/home/somebody', LANG: 'C.UTF-8', LC_TIME: 'C'};
		const {bridge} = await startPuppet(t, [], [], {env});
		const {result} = await bridge.request(1, 'env');
		t.notRegex(JSON.stringify(result), /canary/);
		t.like(result, {PATH: process.env.PATH, HOME: '/home/somebody', LANG: 'C.UTF-8', LC_TIME: 'C'});
		t.false(Object.hasOwn(result as object, 'NODE_OPTIONS'));
		t.is(await bridge.end(), 0);
	},
);

test.serial(
	'E10 --env NAME passes a variable on, --env NAME=VALUE sets one, and neither value is logged',
	async t => {
		const flags = [
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
		const wanted = {GITHUB_TOKEN: 'canary-github', SET: 'canary=with=signs', EMPTY: '', HOME: '/elsewhere'};
		t.like(result, wanted);
		t.false(Object.hasOwn(result, 'OPENAI_API_KEY'));
		t.is(await bridge.end(), 0);
		t.notRegex(bridge.stderr, /canary/);
	},
);

test.serial(
	'E2 a child that never answers initialize is timed out, told nothing, and ended with the client',
	async t => {
		const marker = newMarker(t);
		const running = start(t, ['--timeout', '0.3', '--', ...server('late-reader', marker)]);
		t.like(await running.request(1, 'initialize', opening), {error: {code: -31002, data: {kind: 'timeout'}}});
		t.is(await running.end(), 0);
		t.deepEqual(processesWith(marker), []);
	},
);
