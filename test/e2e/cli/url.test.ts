import {spawn} from 'node:child_process';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, handshake, opening, type Running, runBridge} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {isAllRpc, start} from '../../helpers/program.js';
import {event, reply, startTcp, startUpstream, stream, type Upstream} from '../../helpers/upstream.js';

const call = (id: number) => ({id, method: 'tools/call', params: {name: 'echo', arguments: {id}}});

/** Connects `bridge --url` to an upstream and completes the handshake. */
async function connected(t: ExecutionContext, upstream: Upstream, ...flags: string[]): Promise<Running> {
	const bridge = start(t, ['--url', upstream.url, ...flags]);
	await bridge.shakeHands();
	return bridge;
}

test('stdout contains only messages, whatever the server returns and bridge logs [K6]', async t => {
	const upstream = await startUpstream(t);
	const bridge = await connected(t, upstream, '--debug', '--log-level', 'trace');
	upstream.mood = met => {
		const {message, response} = met;
		if (message.method === 'garbage') response.writeHead(200, {'content-type': 'application/json'}).end('no');
		else if (message.method === 'page') response.writeHead(200, {'content-type': 'text/html'}).end('<p>');
		else if (message.method === 'stream')
			stream(met, ': comment\n\n', 'data: no message\n\n', event({id: message.id, result: {}})).end();
		else return false;
		return true;
	};
	for (const [id, method] of ['garbage', 'page', 'stream', 'unknown'].entries()) bridge.send({id, method});
	bridge.sendText('no message\n');
	for (const id of [0, 1]) t.like(await bridge.answer(id), {error: {code: -31001, data: {source: 'bridge'}}});
	t.like(await bridge.answer(2), {result: {}});
	t.like(await bridge.answer(3), {error: {code: -32601}});
	t.like(await bridge.answer(null), {error: {code: -32700}});
	t.is(await bridge.end(), 0);
	t.true(isAllRpc(bridge.lines));
	t.regex(bridge.stderr, /→ garbage/);
});

test('exits gracefully when the client stops reading [L4]', async t => {
	const upstream = await startUpstream(t);
	const bridge = spawn(process.execPath, [bridgeBin, '--url', upstream.url]);
	t.teardown(() => bridge.kill('SIGKILL'));
	let stderr = '';
	bridge.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	bridge.stdin.on('error', () => {});
	bridge.stdin.write(`${handshake.join('\n')}\n`);
	bridge.stdout.once('data', () => {
		bridge.stdout.destroy();
		for (let id = 0; id < 50; id++) bridge.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...call(id)})}\n`);
	});
	const code = await new Promise(resolve => bridge.once('close', resolve));
	t.is(code, 0);
	t.notRegex(stderr, /EPIPE|This is a bug|\n {4}at /);
	await upstream.meets('DELETE');
});

test('ends the session at the end of input, after all responses [L1]', async t => {
	const upstream = await startUpstream(t);
	const input = [...handshake, ...[1, 2, 3].map(id => JSON.stringify({jsonrpc: '2.0', ...call(id)}))];
	const {code, stdout} = await runBridge(['--url', upstream.url], `${input.join('\n')}\n`, {answers: 4});
	t.is(code, 0);
	const ids = stdout.map(line => (JSON.parse(line) as {id: unknown}).id);
	t.true([1, 2, 3, 'first'].every(id => ids.includes(id)));
	t.is(upstream.asked('DELETE').length, 1);
	t.is(upstream.sessions.size, 0);
});

for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
	test(`${name} also ends the session [L1]`, async t => {
		const upstream = await startUpstream(t);
		const bridge = await connected(t, upstream);
		bridge.child.kill(name);
		t.is((await bridge.exited).code, 0);
		t.is(upstream.asked('DELETE').length, 1);
	});

test('an unreachable server is an error for each request, and bridge keeps running [D1]', async t => {
	const bridge = start(t, ['--url', 'http://127.0.0.1:1/mcp']);
	t.like(await bridge.request(1, 'initialize', opening), {error: {code: -31001, data: {source: 'bridge'}}});
	t.like(await bridge.request(2, 'tools/list'), {error: {data: {source: 'bridge'}}});
	t.is(await bridge.end(), 1);
});

test('reports the status of a server that requires credentials [D5]', async t => {
	const upstream = await startUpstream(t, ({response, headers}) => {
		if (headers.authorization === 'Bearer right') return false;
		response.writeHead(401, {'www-authenticate': 'Bearer'}).end('who are you?');
		return true;
	});
	const bridge = start(t, ['--url', upstream.url]);
	const {error} = await bridge.request(1, 'initialize', opening);
	t.regex(JSON.stringify(error), /401/);
	t.is(await bridge.end(), 1);
	const known = await connected(t, upstream, '--header', 'Authorization: Bearer right');
	t.like(await known.request(1, 'tools/call', {name: 'echo'}), {result: {content: [{type: 'text'}]}});
	t.notRegex(known.stderr, /right/);
});

test('does not follow a redirect to another origin and names its target in the error [A-G6] [D6]', async t => {
	const secret = await startUpstream(t);
	const upstream = await startUpstream(t, ({response}) => {
		response.writeHead(307, {location: `${secret.url}?key=hidden`}).end();
		return true;
	});
	const bridge = start(t, ['--url', upstream.url]);
	const {error} = await bridge.request(1, 'initialize', opening);
	t.is((error as {code: number}).code, -31001);
	t.true(JSON.stringify(error).includes(`a redirect to http://127.0.0.1:${secret.port};`));
	t.notRegex(JSON.stringify(error), /hidden/);
	t.is(secret.met.length, 0);
});

test('reports a server that does not use HTTP instead of hanging [D7]', async t => {
	const port = await startTcp(t, socket => socket.end('220 mail.example.com ESMTP\r\n'));
	const bridge = start(t, ['--url', `http://127.0.0.1:${port}/mcp`]);
	t.like(await bridge.request(1, 'initialize', opening), {error: {code: -31001}});
	t.is(await bridge.end(), 1);
});

test('edge case 12: re-initializes a lost session and executes the call once [C6]', async t => {
	const upstream = await startUpstream(t);
	const bridge = await connected(t, upstream);
	upstream.lose();
	t.like(await bridge.request(1, 'tools/call', {name: 'echo'}), {result: {content: [{type: 'text'}]}});
	t.is(upstream.executions, 1);
	t.is(upstream.asked('initialize').length, 2);
});

test('exits with 1 if the server is unreachable, and the client receives one remedy [A-D13] [U-P1-15] [U-P1-18]', async t => {
	const bridge = start(t, ['--url', `http://127.0.0.1:${await freePort()}/mcp`]);
	bridge.sendText(`${handshake[0]}\n`);
	bridge.send({id: 2, method: 'tools/list'});
	for (const id of ['first', 2]) {
		const {error} = await bridge.answer(id);
		t.like(error, {code: -31001, data: {source: 'bridge', connection: 'failed'}});
		t.regex(
			(error as {message: string}).message,
			/^The request to 127\.0\.0\.1:\d+ failed: the connection was refused\. Check that it is running, [^.]*\.$/,
		);
	}
	t.is(await bridge.end(), 1);
});

test('exits with 1 if the server has died, and with 0 if it has recovered [A-D13]', async t => {
	const upstream = await startUpstream(t);
	const [lost, back] = [await connected(t, upstream), await connected(t, upstream)];
	let isDead = true;
	upstream.mood = ({request}) => {
		if (isDead) request.socket.resetAndDestroy();
		return isDead;
	};
	for (const bridge of [lost, back])
		t.like(await bridge.request(1, 'tools/call', {name: 'echo'}), {error: {code: -31001}});
	isDead = false;
	t.like(await back.request(2, 'tools/call', {name: 'echo', arguments: {}}), {
		result: {content: [{type: 'text'}]},
	});
	t.deepEqual([await lost.end(), await back.end()], [1, 0]);
});

test('exits with 1 if the URL rejects the handshake, and reports its status [A-D13] [U-P1-18]', async t => {
	const upstream = await startUpstream(t);
	upstream.mood = ({response}) => {
		response.writeHead(405).end();
		return true;
	};
	const bridge = start(t, ['--url', upstream.url]);
	const {error} = await bridge.request(1, 'initialize', opening);
	t.regex(
		(error as {message: string}).message,
		/^127\.0\.0\.1:\d+ responded with HTTP status 405\. Check that the URL is that of an MCP server\.$/,
	);
	t.is(await bridge.end(), 1);
});

test('exits with 1 if the server rejects initialize, unless it accepts a later attempt [A-D13]', async t => {
	const upstream = await startUpstream(t);
	const accepted: unknown[] = [];
	upstream.mood = met => {
		const {protocolVersion} = (met.message.params ?? {}) as {protocolVersion?: unknown};
		if (met.message.method !== 'initialize' || accepted.includes(protocolVersion)) return false;
		reply(met, {error: {code: -32602, message: 'Unsupported protocol version'}});
		return true;
	};
	const rejected = start(t, ['--url', upstream.url]);
	t.like(await rejected.request(1, 'initialize', opening), {error: {code: -32602}});
	t.is(await rejected.end(), 1);
	accepted.push('2024-11-05');
	t.is(await (await connected(t, upstream)).end(), 0);
});

test('does not follow a redirect of a WebSocket and names the target in the error [A-G6]', async t => {
	const upstream = await startUpstream(t, ({response}) => {
		response.writeHead(307, {location: '/other?key=hidden'}).end();
		return true;
	});
	const bridge = start(t, ['--url', upstream.url.replace('http:', 'ws:')]);
	const {error} = await bridge.request(1, 'initialize', opening);
	t.regex(
		(error as {message: string}).message,
		/status 307, a redirect to ws:\/\/127\.0\.0\.1:\d+\/other; redirects of WebSockets are not followed\./,
	);
});

test('exits with 1 if a WebSocket server closes the connection [A-D13]', async t => {
	const port = await startTcp(t, socket => socket.destroy());
	const bridge = start(t, ['--url', `ws://127.0.0.1:${port}/mcp`]);
	t.like(await bridge.request(1, 'initialize', opening), {error: {code: -31001}});
	t.is(await bridge.end(), 1);
});
