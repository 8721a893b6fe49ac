import {createConnection, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, peakMiB, until} from '../../helpers/program.js';
import {beginMany} from './begin-many.js';

/** Within the accept backlog of the system. The kernel retries connections beyond it only after seconds. */
const AT_ONCE = 250;

/** Opens this many connections and sends a text on each. Resolves when all are connected or closed. */
async function connections(
	t: ExecutionContext,
	gateway: RunningGateway,
	count: number,
	text: string,
): Promise<Socket[]> {
	const sockets: Socket[] = [];
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
	});
	while (sockets.length < count) {
		const some = Array.from({length: Math.min(AT_ONCE, count - sockets.length)}, () => {
			const socket = createConnection(gateway.port, '127.0.0.1');
			return socket.on('error', () => {}).once('connect', () => socket.write(text));
		});
		sockets.push(...some);
		await Promise.all(
			some.map(socket => new Promise(resolve => socket.once('connect', resolve).once('close', resolve))),
		);
	}
	return sockets;
}

test.serial('serves other clients during 200 slow heads and bodies [B9]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const head = 'POST /mcp/puppet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
	const slow = [
		...(await connections(t, gateway, 100, head)),
		...(await connections(t, gateway, 100, `${head}Content-Length: 100\r\n\r\n{`)),
	];
	const replied: Socket[] = [];
	for (const socket of slow) socket.once('data', () => replied.push(socket));
	for (let id = 0; id < 50; id++) {
		slow[id]?.write('X');
		t.like(await session.request(id, 'echo', {id}), {id, result: {id}});
	}
	t.is(replied.length, 0, 'all slow requests are still incomplete');
});

test.serial('keeps 1,024 of 5,000 connections, closes the others and accepts new ones [B15]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const before = peakMiB(gateway.running.pid);
	const sockets = await connections(t, gateway, 5000, 'GET /healthz HTTP/1.1\r\nHost: local');
	const closed = (): number => sockets.filter(socket => socket.closed).length;
	await until(() => closed() >= 5000 - 1024);
	t.is(closed(), 5000 - 1024, 'only connections over the limit are closed');
	await gateway.running.says(/http\.connections_full/);
	t.is(logged(gateway.running, 'http.connections_full').length, 1, 'the warning is logged once');
	t.true(peakMiB(gateway.running.pid) - before < 100, `${peakMiB(gateway.running.pid)} after ${before}`);
	t.is((await gateway.fetch('/healthz')).status, 200);
	t.is((await gateway.open('puppet')).welcome.id, 'first');
});

test.serial('serves 3,000 abandoned sessions with a limit of 100 [C9]', async t => {
	const servers = {puppet: {...program('puppet'), shared: true}};
	const gateway = await startGateway(t, {servers, limits: {sessions: 100}});
	const first = await gateway.open('puppet');
	t.deepEqual(await beginMany(gateway, 3000), new Set([200]));
	t.is((await first.post({id: 1, method: 'pid'})).status, 404, 'the first one was evicted');
	t.is(JSON.parse((await gateway.fetch('/status')).text).sessions, 100);
	t.true(logged(gateway.running, 'session.evicted').length < 20, 'evictions do not flood the log');
	const session = await gateway.open('puppet');
	t.deepEqual((await session.request(1, 'echo', {a: 1})).result, {a: 1});
});
