import {createConnection, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, peakMiB, until} from '../../helpers/program.js';
import {beginMany} from './begin-many.js';

/** No more than the system lets wait to be taken. Those beyond are not told so, and try again after seconds. */
const AT_ONCE = 250;

/** So many connections, of which each says this and no more. Resolves when all are made, or refused. */
async function connections(
	t: ExecutionContext,
	gateway: RunningGateway,
	count: number,
	said: string,
): Promise<Socket[]> {
	const sockets: Socket[] = [];
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
	});
	while (sockets.length < count) {
		const some = Array.from({length: Math.min(AT_ONCE, count - sockets.length)}, () => {
			const socket = createConnection(gateway.port, '127.0.0.1');
			return socket.on('error', () => {}).once('connect', () => socket.write(said));
		});
		sockets.push(...some);
		await Promise.all(
			some.map(socket => new Promise(resolve => socket.once('connect', resolve).once('close', resolve))),
		);
	}
	return sockets;
}

test.serial('200 slow heads and bodies keep nobody else waiting [B9]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const head = 'POST /mcp/puppet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
	const slow = [
		...(await connections(t, gateway, 100, head)),
		...(await connections(t, gateway, 100, `${head}Content-Length: 100\r\n\r\n{`)),
	];
	const answered: Socket[] = [];
	for (const socket of slow) socket.once('data', () => answered.push(socket));
	for (let id = 0; id < 50; id++) {
		slow[id]?.write('X');
		t.like(await session.request(id, 'echo', {id}), {id, result: {id}});
	}
	t.is(answered.length, 0, 'all of them are still at it');
});

test.serial(
	'of 5,000 connections 1,024 stay open, the others are closed, and others come after them [B15]',
	async t => {
		const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
		const before = peakMiB(gateway.running.pid);
		const sockets = await connections(t, gateway, 5000, 'GET /healthz HTTP/1.1\r\nHost: local');
		const closed = (): number => sockets.filter(socket => socket.closed).length;
		await until(() => closed() >= 5000 - 1024);
		t.is(closed(), 5000 - 1024, 'no more than those that are too many');
		await gateway.running.says(/http\.connections_full/);
		t.is(logged(gateway.running, 'http.connections_full').length, 1, 'which is told once');
		t.true(peakMiB(gateway.running.pid) - before < 100, `${peakMiB(gateway.running.pid)} after ${before}`);
		t.is((await gateway.fetch('/healthz')).status, 200);
		t.is((await gateway.open('puppet')).welcome.id, 'first');
	},
);

test.serial('3,000 sessions that nobody ends are served, a hundred at a time [C9]', async t => {
	const servers = {puppet: {...program('puppet'), shared: true}};
	const gateway = await startGateway(t, {servers, limits: {sessions: 100}});
	const first = await gateway.open('puppet');
	t.deepEqual(await beginMany(gateway, 3000), new Set([200]));
	t.is((await first.post({id: 1, method: 'pid'})).status, 404, 'the first is long gone');
	t.is(JSON.parse((await gateway.fetch('/status')).text).sessions, 100);
	t.true(logged(gateway.running, 'session.evicted').length < 20, 'nor does it flood the log');
	const session = await gateway.open('puppet');
	t.deepEqual((await session.request(1, 'echo', {a: 1})).result, {a: 1});
});
