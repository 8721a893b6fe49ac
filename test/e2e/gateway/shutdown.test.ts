import {once} from 'node:events';
import {createConnection} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {program, startGateway} from '../../helpers/gateway.js';
import {logged, newFolder, newMarker, processesWith, signal, start, until} from '../../helpers/program.js';
import {configFile, statusesIn} from '../../helpers/raw-requests.js';

test('waits for a pending call at shutdown and then stops all processes [L1]', async t => {
	const marker = newMarker(t);
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', marker)}});
	const session = await gateway.open('puppet');
	const slow = session.request(1, 'slow', {ms: 1500});
	await session.request(2, 'pid');
	const ended = gateway.stop();
	t.deepEqual((await slow).result, {ms: 1500});
	t.is(await ended, 0);
	t.deepEqual(processesWith(marker), []);
});

test('completes a response that is read slowly at shutdown [L1]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const bytes = 8 * 2 ** 20;
	const response = await fetch(new URL('/mcp/puppet', gateway.base), {
		method: 'POST',
		headers: {...session.headers, 'content-type': 'application/json', accept: 'application/json'},
		body: JSON.stringify({jsonrpc: '2.0', id: 1, method: 'big', params: {bytes}}),
	});
	const ended = gateway.stop();
	await until(() => logged(gateway.running, 'gateway.draining').length > 0);
	await sleep(1500);
	const {result} = JSON.parse(await response.text());
	t.is(result.text.length, bytes);
	t.is(await ended, 0);
});

test('rejects new connections during shutdown and returns 503 for /readyz on open ones [L1]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const held = session.request(1, 'hold');
	const {pid} = (await session.request(2, 'pid')).result as {pid: number};
	const socket = createConnection(gateway.port, '127.0.0.1');
	await once(socket, 'connect');
	socket.write('GET /readyz HTTP/1.1\r\nHost: local');
	await gateway.fetch('/healthz');
	const ended = gateway.stop();
	await until(() => logged(gateway.running, 'gateway.draining').length > 0);
	socket.write('host\r\nConnection: close\r\n\r\n');
	let text = '';
	for await (const chunk of socket) text += chunk;
	t.deepEqual(statusesIn(text), [503], 'L8');
	const late = createConnection(gateway.port, '127.0.0.1');
	const [error] = await once(late, 'error');
	t.is(error.code, 'ECONNREFUSED');
	signal(pid, 'SIGUSR2');
	t.truthy((await held).result);
	t.is(await ended, 0);
});

test('ends open streams at shutdown and does not wait for them [L1]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const headers = {...session.headers, accept: 'text/event-stream'};
	const stream = await fetch(new URL('/mcp/puppet', gateway.base), {headers});
	t.is(stream.status, 200);
	const ended = gateway.stop();
	await stream.text();
	t.is(await ended, 0);
});

test('a second signal stops the gateway without waiting, and leaves no process behind [L2]', async t => {
	const marker = newMarker(t);
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', marker)}});
	const session = await gateway.open('puppet');
	const held = session.request(1, 'hold').catch(() => 'cut off');
	await session.request(2, 'pid');
	gateway.running.child.kill('SIGTERM');
	await until(() => logged(gateway.running, 'gateway.draining').length > 0);
	gateway.running.child.kill('SIGTERM');
	t.is((await gateway.running.exited).code, 0);
	await held;
	t.deepEqual(processesWith(marker), []);
});

test('shuts down once on many signals and leaves no child behind [L2]', async t => {
	const marker = newMarker(t);
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', marker)}});
	await gateway.open('puppet');
	for (let count = 0; count < 100; count++)
		gateway.running.child.kill(count % 2 === 0 ? 'SIGTERM' : 'SIGINT');
	const {code} = await gateway.running.exited;
	t.true(code === 0 || code === 130 || code === 143, String(code));
	t.true(logged(gateway.running, 'gateway.draining').length <= 1);
	await until(() => processesWith(marker).length === 0);
});

// Most resources are created in the first tenths of a second.
for (const delayMs of [
	0, 10, 20, 35, 50, 75, 100, 125, 150, 175, 200, 250, 300, 350, 400, 500, 600, 700, 850, 1000,
])
	test(`a signal ${delayMs} ms after the start stops the gateway cleanly [L3]`, async t => {
		const folder = await newFolder(t);
		const file = await configFile(
			t,
			JSON.stringify({listen: '127.0.0.1:0', servers: {puppet: program('puppet')}}),
		);
		const running = start(t, ['gateway', '--config', file], {cwd: folder});
		await once(running.child, 'spawn');
		await sleep(delayMs);
		running.child.kill('SIGTERM');
		const {code, signal} = await running.exited;
		// Before bridge installs its handlers, the signal itself kills it.
		t.true(code === 0 || signal === 'SIGTERM', `${code} ${signal} ${running.stderr}`);
		t.notRegex(running.stderr, /bug|Error|\n +at /);
	});

test('reports a port that is in use in one line, with exit code 2 [U-P1-18] [L7]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const file = await configFile(t, JSON.stringify({listen: `127.0.0.1:${gateway.port}`, servers: {}}));
	const {code, stdout, stderr} = await runBridge(['gateway', '--config', file]);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.regex(
		stderr,
		/^bridge: Cannot listen on 127\.0\.0\.1:\d+: the port is already in use by bridge gateway \(process \d+\)\. Use another one: --port PORT .*\n$/,
	);
});
