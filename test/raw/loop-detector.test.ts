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

/** Connects to a port. Returns both ends of the connection. */
async function connection(
	t: ExecutionContext,
	{server, port}: {server: Server; port: number},
	onOutgoing: (outgoing: Socket) => void = () => {},
): Promise<{outgoing: Socket; incoming: Socket}> {
	const accepted = once(server, 'connection');
	const outgoing = createConnection({port, host: HOST});
	onOutgoing(outgoing);
	const [[incoming]] = (await Promise.all([accepted, once(outgoing, 'connect')])) as [[Socket], unknown];
	t.teardown(() => {
		outgoing.destroy();
		incoming.destroy();
	});
	return {outgoing, incoming};
}

test('detects a connection that returns to the port that it came in by [I7]', async t => {
	const loops = new LoopDetector();
	const rule = await listening(t);
	const {incoming: client} = await connection(t, rule);
	t.false(loops.isLoop(client, rule.port));
	const {incoming: again} = await connection(t, rule, target => loops.track(client, rule.port, target));
	t.true(loops.isLoop(again, rule.port));
	t.false(loops.isLoop(again, rule.port + 1));
});

test('does not mistake a client for a loop because its port equals that of a target connection', async t => {
	const loops = new LoopDetector();
	const rule = await listening(t);
	const peer = await listening(t);
	const {incoming: client} = await connection(t, rule);
	const {outgoing} = await connection(t, peer, target => loops.track(client, rule.port, target));
	const {localAddress, localPort, remoteAddress} = client;
	// The system may assign a port again for another target.
	const other = {localAddress, localPort, remoteAddress, remotePort: outgoing.localPort};
	t.false(loops.isLoop(other, rule.port));
});
