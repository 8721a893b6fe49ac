import {once} from 'node:events';
import {createConnection} from 'node:net';
import test from 'ava';
import {messageIn, program, startGateway} from '../../helpers/gateway.js';
import {
	bytesWritten,
	newMarker,
	peakMiB,
	processesWith,
	signal,
	until,
	untilStill,
} from '../../helpers/program.js';
import {common, request, statusesIn} from '../../helpers/raw-requests.js';

const TOTAL = 2 ** 30;

test('pauses a child that floods a client that stops reading, and serves others [F1]', async t => {
	const marker = newMarker(t);
	const servers = {
		flood: program('flood', String(TOTAL), '10000', '--ready', marker),
		puppet: program('puppet'),
	};
	const gateway = await startGateway(t, {servers});
	const before = peakMiB(gateway.running.pid);
	const socket = createConnection(gateway.port, '127.0.0.1');
	t.teardown(() => socket.destroy());
	await once(socket, 'connect');
	const session = await gateway.open('flood');
	const id = `Mcp-Session-Id: ${session.headers['mcp-session-id']}`;
	socket.write(`GET /mcp/flood HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n${id}\r\n\r\n`);
	await once(socket, 'readable');
	const [pid = 0] = processesWith(marker);
	await untilStill(() => bytesWritten(pid));
	t.true(bytesWritten(pid) < TOTAL / 2, `${bytesWritten(pid)} of ${TOTAL}`);
	t.true(peakMiB(gateway.running.pid) - before < 100, `${peakMiB(gateway.running.pid)} after ${before}`);
	const other = await gateway.open('puppet');
	t.deepEqual((await other.request(1, 'echo', {a: 1})).result, {a: 1});
});

test('bounds memory and log when a child floods a client without a stream [F1]', async t => {
	const marker = newMarker(t);
	const servers = {
		flood: program('flood', String(TOTAL), '10000', '--ready', marker),
		puppet: program('puppet'),
	};
	const gateway = await startGateway(t, {servers});
	const before = peakMiB(gateway.running.pid);
	await gateway.open('flood');
	const [pid = 0] = processesWith(marker);
	await untilStill(() => bytesWritten(pid));
	t.true(peakMiB(gateway.running.pid) - before < 100, `${peakMiB(gateway.running.pid)} after ${before}`);
	t.true(gateway.running.stderr.length < 2 ** 20, `${gateway.running.stderr.length} bytes of log`);
	const other = await gateway.open('puppet');
	t.deepEqual((await other.request(1, 'echo', {a: 1})).result, {a: 1});
});

test('rejects calls to a child that does not read over a limit, and serves calls after it reads again [F2]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: {...program('puppet'), timeout: 0}}});
	const session = await gateway.open('puppet');
	const {pid} = (await session.request('pid', 'pid')).result as {pid: number};
	signal(pid, 'SIGSTOP');
	t.teardown(() => signal(pid, 'SIGCONT'));
	const before = peakMiB(gateway.running.pid);
	const text = 'x'.repeat(60_000);
	const held: Array<Promise<unknown>> = [];
	let rejected: Awaited<ReturnType<typeof session.post>> | undefined;
	for (let count = 0; count < 2000 && !rejected; count++) {
		held.push(
			session.post({id: count, method: 'echo', params: {text}}).then(reply => {
				if (reply.status !== 200) rejected ??= reply;
			}),
		);
		if (count % 50 === 49) await gateway.fetch('/healthz');
	}
	await until(() => rejected !== undefined);
	t.is(rejected?.status, 503);
	t.is(rejected?.headers.get('retry-after'), '1');
	const {error} = rejected ? messageIn(rejected) : {error: {}};
	t.like(error, {code: -31003, data: {source: 'bridge', kind: 'overloaded'}});
	t.true(peakMiB(gateway.running.pid) - before < 150, `${peakMiB(gateway.running.pid)} after ${before}`);
	signal(pid, 'SIGCONT');
	await Promise.all(held);
	t.deepEqual((await session.request('after', 'echo', {a: 1})).result, {a: 1});
});

test('replies to 900 requests that are pending in one session [F5]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: {...program('puppet'), timeout: 0}}});
	const session = await gateway.open('puppet');
	const body = (id: number): string => JSON.stringify({jsonrpc: '2.0', id, method: 'hold'});
	const id = `Mcp-Session-Id: ${session.headers['mcp-session-id']}`;
	const pending = Array.from({length: 900}, (_, at) =>
		gateway.raw(request('POST /mcp/puppet', [...common, id], body(at))),
	);
	let count = 0;
	while (count < 900)
		count = ((await session.request(`held ${count}`, 'held')).result as {count: number}).count;
	await session.request('release', 'release');
	const replies = await Promise.all(pending);
	t.true(replies.every(text => statusesIn(text)[0] === 200));
	t.deepEqual((await session.request('after', 'echo', {a: 1})).result, {a: 1});
});

test('rejects sessions over the limit while all are in use, over every transport [F5]', async t => {
	const servers = {puppet: program('puppet')};
	const gateway = await startGateway(t, {limits: {sessions: 2}, servers});
	// Keeps a reference to each response. Node closes the stream of a response that is garbage-collected.
	const held: Response[] = [];
	const stream = async (): Promise<number> => {
		const controller = new AbortController();
		t.teardown(() => controller.abort());
		const response = await fetch(new URL('/mcp/puppet/sse', gateway.base), {
			signal: controller.signal,
			headers: {accept: 'text/event-stream'},
		});
		held.push(response);
		return response.status;
	};
	t.deepEqual([await stream(), await stream(), await stream()], [200, 200, 503]);
	const rejected = await gateway.post('puppet', {id: 1, method: 'initialize'});
	t.is(rejected.status, 503);
	t.is(rejected.headers.get('retry-after'), '1');
	t.is((messageIn(rejected).error as {code: number}).code, -31003);
	const upgrade = [
		'Upgrade: websocket',
		'Connection: Upgrade',
		'Sec-WebSocket-Version: 13',
		'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
		'Host: localhost',
	];
	const text = await gateway.raw(`GET /mcp/puppet HTTP/1.1\r\n${upgrade.join('\r\n')}\r\n\r\n`);
	t.deepEqual(statusesIn(text), [503]);
	t.is(held.length, 3);
	t.is((await gateway.fetch('/healthz')).status, 200);
});
