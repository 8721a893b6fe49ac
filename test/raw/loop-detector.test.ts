import {once} from 'node:events';
import {type AddressInfo, createConnection, createServer, type Server, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {LoopDetector} from '../../lib/raw/loop-detector.js';

const HOST = '127.0.0.1';

async function listening(t: ExecutionContext): Promise<{server: Server; port: number}> {
	const server = createServer().listen(0, HOST);
	await once(server, 'listening');
	t.teardown(() => server.close());
	return {server, port: (server.address() as AddressInfo).port};
}

/** A connection to a port: what it is for who makes it, and for who takes it. */
async function connection(
	t: ExecutionContext,
	{server, port}: {server: Server; port: number},
	onMade: (made: Socket) => void = () => {},
): Promise<{made: Socket; taken: Socket}> {
	const accepted = once(server, 'connection');
	const made = createConnection({port, host: HOST});
	onMade(made);
	const [[taken]] = (await Promise.all([accepted, once(made, 'connect')])) as [[Socket], unknown];
	t.teardown(() => {
		made.destroy();
		taken.destroy();
	});
	return {made, taken};
}

test('a connection that comes back to the port that it came in by is a loop [I7]', async t => {
	const loops = new LoopDetector();
	const rule = await listening(t);
	const {taken: client} = await connection(t, rule);
	t.false(loops.isLoop(client, rule.port));
	const {taken: again} = await connection(t, rule, target => loops.track(client, rule.port, target));
	t.true(loops.isLoop(again, rule.port));
	t.false(loops.isLoop(again, rule.port + 1));
});

test('a client is no loop that has the same port at its end as a connection to the target has', async t => {
	const loops = new LoopDetector();
	const rule = await listening(t);
	const peer = await listening(t);
	const {taken: client} = await connection(t, rule);
	const {made} = await connection(t, peer, target => loops.track(client, rule.port, target));
	const {localAddress, localPort, remoteAddress} = client;
	// The system gives a port again, to who wants to go elsewhere.
	const other = {localAddress, localPort, remoteAddress, remotePort: made.localPort};
	t.false(loops.isLoop(other, rule.port));
});
