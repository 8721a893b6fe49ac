import {chmodSync, lstatSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {userToken} from '../../../bin/shared/local-access.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {logged, newFolder, start} from '../../helpers/program.js';
import {eventLine, logFile} from '../../view/logs.js';
import {call, failureOf, postText} from '../raw/control.js';
import {startRaw} from '../raw/support.js';

/** Simulates a platform that does not list the owners of connections. */
const otherPlatform = [
	'--import',
	'data:text/javascript,Object.defineProperty(process,"platform",{value:"darwin"})',
] as const;

/** Start options for a user without a token on that platform. */
async function newUser(t: ExecutionContext) {
	const state = await newFolder(t);
	const env = {...process.env, XDG_STATE_HOME: state, HOME: state};
	const token = (): string => readFileSync(join(state, 'bridge', 'token'), 'latin1').trim();
	return {state, token, options: {nodeArgs: otherPlatform, env}};
}

const servers = {puppet: program('puppet')};

test('outside Linux, a gateway requires the token of its user, which is kept across restarts [SEC-D19]', async t => {
	const {state, token, options} = await newUser(t);
	const gateway = await startGateway(t, {servers}, options);
	const first = token();
	t.is(lstatSync(join(state, 'bridge', 'token')).mode & 0o777, 0o600);
	const status = async (headers: {[name: string]: string}): Promise<number> =>
		(await gateway.fetch('/status', {headers})).status;
	t.is(await status({}), 401);
	t.is(await status({'x-bridge-token': `${first}x`}), 401);
	t.is(await status({'x-bridge-token': first}), 200);
	t.is((await gateway.fetch('/healthz')).status, 200);
	t.like((await gateway.open('puppet', {'x-bridge-token': first})).welcome, {id: 'first'});
	t.false(gateway.running.lines.join('\n').includes(first));
	t.true(gateway.running.lines.join('\n').includes(join(state, 'bridge', 'token')));
	await gateway.stop();
	const next = await startGateway(t, {servers}, options);
	t.is((await next.fetch('/status', {headers: {'x-bridge-token': first}})).status, 200);
	t.is(token(), first);
});

test('outside Linux, configured tokens replace the token of the user [SEC-D19]', async t => {
	const {options} = await newUser(t);
	const own = 'a-configured-token-of-some-length';
	const gateway = await startGateway(t, {tokens: [own], servers}, options);
	t.is((await gateway.fetch('/status', {headers: {'x-bridge-token': own}})).status, 200);
	t.is((await gateway.fetch('/status')).status, 401);
});

for (const [client, header] of [
	['codex', 'http_headers = { "X-Bridge-Token" = "TOKEN" }'],
	['claude', '"X-Bridge-Token": "TOKEN"'],
	['cursor', '"X-Bridge-Token": "TOKEN"'],
	['vscode', '"X-Bridge-Token": "TOKEN"'],
] as const)
	test(`outside Linux, --print-client ${client} prints the token as a header [SEC-D19]`, async t => {
		const {state, token, options} = await newUser(t);
		const file = join(state, 'bridge.json');
		writeFileSync(file, JSON.stringify({servers}));
		const running = start(t, ['gateway', '--config', file, '--print-client', client], options);
		t.is((await running.exited).code, 0);
		t.true(running.lines.join('\n').includes(header.replace('TOKEN', token())), running.lines.join('\n'));
	});

for (const [client, path] of [
	['claude', '.mcp.json'],
	['codex', join('.codex', 'config.toml')],
	['cursor', join('.cursor', 'mcp.json')],
] as const)
	test(`outside Linux, install ${client} writes the token as a header and does not print it [SEC-D19]`, async t => {
		const {state, token, options} = await newUser(t);
		const env = {...options.env, CODEX_HOME: join(state, '.codex')};
		const args = ['install', client, '--url', 'http://127.0.0.1:7411/mcp', '--yes'];
		for (let time = 0; time < 2; time++) {
			const running = start(t, args, {...options, env, cwd: state});
			t.is((await running.exited).code, 0, running.stderr);
			t.false(running.lines.join('\n').includes(token()));
		}
		const text = readFileSync(join(state, path), 'utf8');
		t.is(text.split(token()).length, 2);
		t.regex(text, client === 'codex' ? /^http_headers = \{ "X-Bridge-Token" = /m : /"headers"/m);
		const other = start(t, ['install', client, 'other', '--url', 'https://example.com/mcp', '--yes'], {
			...options,
			env,
			cwd: state,
		});
		t.is((await other.exited).code, 0, other.stderr);
		t.is(readFileSync(join(state, path), 'utf8').split(token()).length, 2);
	});

test('outside Linux, view --live sends the token to a local gateway [SEC-D19]', async t => {
	const {token, options} = await newUser(t);
	const gateway = await startGateway(t, {servers}, options);
	const running = start(t, ['view', '--live', gateway.base.href], options);
	const [line = ''] = await running.hasLines(1);
	t.false(line.includes(token()));
	const headers = {'x-bridge-token': token()};
	const live = (): Promise<string> =>
		fetch(new URL('/view/events', line), {headers}).then(async ({body}) => {
			const {value} = (await body?.getReader().read()) ?? {};
			return new TextDecoder().decode(value);
		});
	while (!(await live()).includes('"note":""')) await gateway.fetch('/status', {headers});
	t.is((await fetch(new URL('/view/events', line))).status, 401);
});

test('outside Linux, bridge view accepts the token of its user [SEC-D19]', async t => {
	const {token, options} = await newUser(t);
	const running = start(t, ['view', logFile(t, `${eventLine('open')}\n`)], options);
	const [line = ''] = await running.hasLines(1);
	const url = new URL('/view/rows?count=1', line);
	t.is((await fetch(url)).status, 401);
	t.is((await fetch(url, {headers: {'x-bridge-token': token()}})).status, 200);
});

test('outside Linux, raw opens its control server without --mcp-token, and warns [SEC-D3]', async t => {
	const {options} = await newUser(t);
	const {running, endpoint, lines} = await startRaw(t, ['--mcp-port', '0'], options);
	t.deepEqual(Object.keys(lines[0] ?? {}), ['time', 'event', 'endpoint']);
	t.is(failureOf(await call(endpoint, 'remove-port-rule', {local_port: 1})).code, -32_602);
	await running.says(/"event":"raw\.open"/);
	const token = 'a-token-of-raw-that-is-long';
	const guarded = await startRaw(t, ['--mcp-port', '0', '--mcp-token', token], options);
	const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
	t.is((await postText(guarded.endpoint, ping)).status, 401);
	t.is((await postText(guarded.endpoint, ping, {authorization: `Bearer ${token}`})).status, 200);
	t.deepEqual(logged(guarded.running, 'raw.open'), []);
});

test('creates the token of a user once, and rejects a file that others can read [SEC-D19]', async t => {
	const file = join(await newFolder(t), 'state', 'token');
	const all = await Promise.all(Array.from({length: 20}, () => userToken(file)));
	t.is(new Set([...all, await userToken(file)]).size, 1);
	chmodSync(file, 0o644);
	await t.throwsAsync(userToken(file), {message: /other users can read or change it/});
	chmodSync(file, 0o600);
	writeFileSync(file, 'short\n');
	await t.throwsAsync(userToken(file), {message: /it contains no token/});
	symlinkSync(file, `${file}-link`);
	await t.throwsAsync(userToken(`${file}-link`), {message: /cannot be used/});
});
