import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import {opening, server} from '../../helpers/bridge.js';
import {
	type GatewayConfig,
	messageIn,
	program,
	type RunningGateway,
	startGateway,
} from '../../helpers/gateway.js';
import {logged, newFolder, newMarker, processesWith, signal, until} from '../../helpers/program.js';
import {lineCount} from '../../helpers/temp-folder.js';
import {startTcp} from '../../helpers/upstream.js';

const initialize = {id: 'mine', method: 'initialize', params: opening};

type Failure = {readonly code: number; readonly message: string; readonly data: object};
const failureOf = (message: {readonly [key: string]: unknown}): Failure => message.error as Failure;

const statusOf = async (gateway: RunningGateway, service: string) =>
	JSON.parse((await gateway.fetch('/status')).text).services[service];

/** A server that appends a line to a file at every start and then runs a shell script. */
async function countedServer(t: ExecutionContext, script: string, ...args: string[]) {
	const file = join(await newFolder(t), 'starts');
	const config: GatewayConfig = {
		command: 'sh',
		args: ['-c', `echo start >> "$0"; ${script}`, file, ...args],
	};
	return {config, starts: () => lineCount(file), file};
}

test('fails a handshake at once with exit code and stderr, and starts one process per attempt [U-P0-2] [A-G5]', async t => {
	const {config, starts} = await countedServer(t, 'echo "no database" >&2; exit 3');
	const gateway = await startGateway(t, {servers: {dies: config}});
	for (const count of [1, 2]) {
		const reply = await gateway.post('dies', initialize);
		t.is(reply.status, 502);
		const {code, message, data} = failureOf(messageIn(reply));
		t.is(code, -31004);
		t.like(data, {source: 'bridge', kind: 'child_exited', exitCode: 3, signal: null});
		t.regex(
			message,
			/^dies exited with code 3\. The end of its stderr: no database\nFix the cause, then connect again\./,
		);
		t.is(starts(), count);
		t.is(reply.headers.get('mcp-session-id'), null);
	}
	t.like(await statusOf(gateway, 'dies'), {
		state: 'failed',
		sessions: 0,
		restarts: 0,
		lastError: 'dies exited with code 3. The end of its stderr: no database',
	});
	t.like(logged(gateway.running, 'upstream.lost').at(0), {
		server: 'dies',
		msg: 'dies exited with code 3.',
		evidence: 'The end of its stderr: no database',
	});
});

test('names variables that the gateway withheld from a server that exits early [U-P0-1]', async t => {
	const {config} = await countedServer(t, 'echo "GITHUB_TOKEN is required" >&2; exit 1');
	const env = {...process.env, GITHUB_TOKEN: 'canary', BRIDGE_TOKEN: 'canary'};
	const gateway = await startGateway(t, {servers: {needs: config}}, {env});
	const {message} = failureOf(messageIn(await gateway.post('needs', initialize)));
	t.regex(message, /did not pass these environment variables to it: GITHUB_TOKEN[,.]/);
	t.regex(message, /Pass one with env in its configuration: servers\.needs\.env: \{ NAME: "\$\{NAME\}" \}\./);
	t.notRegex(message, /canary|BRIDGE_TOKEN/);
});

test('starts a new process with the next initialize [U-P0-2]', async t => {
	const puppet = server('puppet', newMarker(t));
	const {config, starts} = await countedServer(t, 'test $(wc -l < "$0") = 1 && exit 3; exec "$@"', ...puppet);
	const gateway = await startGateway(t, {servers: {shy: config}});
	t.is((await gateway.post('shy', initialize)).status, 502);
	const session = await gateway.open('shy');
	t.deepEqual((await session.request(1, 'echo', {a: 1})).result, {a: 1});
	t.is(starts(), 2);
	t.like(await statusOf(gateway, 'shy'), {state: 'ready'});
});

test('starts a new process with the next initialize on the same connection [U-P0-2]', async t => {
	const puppet = server('puppet', newMarker(t));
	const {config, starts} = await countedServer(t, 'test $(wc -l < "$0") = 1 && exit 3; exec "$@"', ...puppet);
	const gateway = await startGateway(t, {servers: {shy: config}});
	const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/mcp/shy`, 'mcp');
	t.teardown(() => socket.terminate());
	const received: Array<{readonly [key: string]: unknown}> = [];
	socket.on('message', data => received.push(JSON.parse(String(data))));
	await new Promise(resolve => socket.once('open', resolve));
	const ask = async (id: number): Promise<void> => {
		socket.send(JSON.stringify({jsonrpc: '2.0', ...initialize, id}));
		await until(() => received.some(message => message.id === id));
	};
	await ask(1);
	await ask(2);
	t.like(received, [
		{id: 1, error: {code: -31004, data: {exitCode: 3}}},
		{id: 2, result: {serverInfo: {name: 'puppet'}}},
	]);
	t.is(starts(), 2);
});

test('escapes and bounds the stderr of a child in errors and in the status [U-P0-2]', async t => {
	const script = `head -c 100000 /dev/zero | tr '\\0' x >&2; printf '\\033[31mred\\342\\200\\256\\n' >&2; exit 3`;
	const {config} = await countedServer(t, script);
	const gateway = await startGateway(t, {servers: {dies: config}});
	const {message} = failureOf(messageIn(await gateway.post('dies', initialize)));
	const {lastError} = await statusOf(gateway, 'dies');
	for (const text of [message, lastError]) {
		t.regex(text, /x\\x1b\[31mred\\u202e$/m);
		t.true(text.length < 4000);
	}
});

test('fails a handshake with a shared server at once, with the same error [U-P0-2]', async t => {
	const {config, starts} = await countedServer(t, 'echo "no database" >&2; exit 3');
	const gateway = await startGateway(t, {servers: {dies: {...config, shared: true}}});
	const reply = await gateway.post('dies', initialize);
	t.is(reply.status, 502);
	const {code, message, data} = failureOf(messageIn(reply));
	t.like({code, data}, {code: -31004, data: {exitCode: 3}});
	t.regex(message, /^dies exited with code 3\. The end of its stderr: no database\nFix the cause/);
	t.like(await statusOf(gateway, 'dies'), {
		state: 'failed',
		lastError: 'dies exited with code 3. The end of its stderr: no database',
	});
	t.is(starts(), 1);
});

test('fails a request of a stateless client with the same error [U-P0-2]', async t => {
	const {config} = await countedServer(t, 'echo "no database" >&2; exit 3');
	const gateway = await startGateway(t, {servers: {dies: config}});
	const _meta = {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28',
		'io.modelcontextprotocol/clientInfo': {name: 'test', version: '1'},
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	const headers = {'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list'};
	const reply = await gateway.post('dies', {id: 1, method: 'tools/list', params: {_meta}}, headers);
	const {code, message} = failureOf(messageIn(reply));
	t.is(code, -31004);
	t.is(message.match(/The end of its stderr: no database/g)?.length, 1);
});

test('fails a handshake with a stateless upstream with the same error [U-P0-2]', async t => {
	const {config} = await countedServer(t, 'echo "no database" >&2; exit 3');
	const gateway = await startGateway(t, {servers: {dies: {...config, targetVersion: '2026-07-28'}}});
	const reply = await gateway.post('dies', initialize);
	t.is(reply.status, 502);
	const {code, message} = failureOf(messageIn(reply));
	t.is(code, -31004);
	t.regex(message, /^dies exited with code 3\. The end of its stderr: no database\n/);
});

test('fails requests queued for a child that exits during its restart, and restarts it for the next [U-P0-2]', async t => {
	const puppet = server('puppet', newMarker(t));
	// The second child exits as soon as a request is queued for it.
	const script =
		'test $(wc -l < "$0") = 2 && { until test -e "$0.go"; do sleep 0.1; done; echo "still locked" >&2; exit 3; }; exec "$@"';
	const {config, starts, file} = await countedServer(t, script, ...puppet);
	const gateway = await startGateway(t, {servers: {mortal: config}});
	const session = await gateway.open('mortal');
	t.like(await session.request(1, 'exit', {code: 9}), {error: {code: -31004, data: {exitCode: 9}}});
	const response = session.request(2, 'pid');
	await until(() => starts() === 2);
	// Requests are processed in order of arrival.
	for (let count = 0; count < 3; count++) await gateway.fetch('/healthz');
	writeFileSync(`${file}.go`, '');
	const failure = failureOf(await response);
	t.is(failure.code, -31004);
	t.regex(failure.message, /exited with code 3.*The end of its stderr: still locked$/m);
	t.like(await session.request(3, 'echo', {a: 1}), {result: {a: 1}});
	t.is(starts(), 3);
	t.like(await statusOf(gateway, 'mortal'), {state: 'ready', restarts: 2});
});

test('restarts a child once while its client sends nothing, and again with the next request [U-P0-2]', async t => {
	const marker = newMarker(t);
	const {config, starts} = await countedServer(t, 'exec "$@"', ...server('puppet', marker));
	const gateway = await startGateway(t, {servers: {mortal: config}});
	const session = await gateway.open('mortal');
	const {pid} = (await session.request(1, 'pid')).result as {pid: number};
	signal(pid, 'SIGKILL');
	await until(async () => {
		const {state, restarts} = await statusOf(gateway, 'mortal');
		return state === 'ready' && restarts === 1;
	});
	for (const other of processesWith(marker)) signal(other, 'SIGKILL');
	await until(() => logged(gateway.running, 'upstream.lost').length === 2);
	const [first, second] = logged(gateway.running, 'upstream.lost');
	t.is(typeof first?.pauseMs, 'number');
	t.is(second?.pauseMs, undefined);
	t.is(starts(), 2);
	t.like(await session.request(2, 'echo', {a: 1}), {result: {a: 1}});
	t.is(starts(), 3);
});

test('does not restart a child while the gateway drains [U-P0-2]', async t => {
	const puppet = server('puppet', newMarker(t));
	const {config, starts} = await countedServer(t, 'exec "$@"', ...puppet);
	const gateway = await startGateway(t, {servers: {mortal: config, busy: program('puppet', newMarker(t))}});
	const [mortal, busy] = [await gateway.open('mortal'), await gateway.open('busy')];
	const {pid} = (await mortal.request(1, 'pid')).result as {pid: number};
	busy.post({id: 'held', method: 'hold'}).catch(() => {});
	await until(async () => ((await busy.request(2, 'held')).result as {count: number}).count === 1);
	gateway.running.child.kill('SIGTERM');
	await gateway.running.says(/"event":"gateway\.draining"/);
	signal(pid, 'SIGKILL');
	await gateway.running.says(
		/"event":"upstream\.lost","server":"mortal"|"server":"mortal".*"event":"upstream\.lost"/,
	);
	t.is(logged(gateway.running, 'upstream.lost').at(0)?.pauseMs, undefined);
	gateway.running.child.kill('SIGTERM');
	t.is((await gateway.running.exited).code, 0);
	t.is(starts(), 1);
});

test('fails a handshake at once when the connection is lost, over any transport, and retries with the next [A-G11]', async t => {
	let connections = 0;
	const port = await startTcp(t, socket => {
		connections++;
		socket.once('data', () => socket.resetAndDestroy());
	});
	const gateway = await startGateway(t, {
		servers: {
			http: {url: `http://127.0.0.1:${port}/mcp`, transport: 'http'},
			sse: {url: `http://127.0.0.1:${port}/sse`, transport: 'sse'},
			ws: {url: `ws://127.0.0.1:${port}/mcp`},
		},
	});
	for (const service of ['http', 'sse', 'ws'])
		for (const _attempt of [1, 2]) {
			const before = connections;
			const reply = await gateway.post(service, initialize);
			t.is(reply.status, 502, service);
			const {code, message} = failureOf(messageIn(reply));
			t.is(code, -31001, service);
			t.notRegex(message, /restarts it|stderr/, service);
			t.is(connections, before + 1, service);
			t.is((await statusOf(gateway, service)).sessions, 0);
		}
});
