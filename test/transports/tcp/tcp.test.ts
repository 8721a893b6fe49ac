import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {connect as connectSocket, createServer, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {map, Subject} from 'rxjs';
import {connect, type Stage} from '../../../lib/core/stage.js';
import {
	connectTcpForForwarding,
	listenTcp,
	portOf,
	tcpEndpoint,
	whenConnected,
} from '../../../lib/transports/tcp/tcp.js';
import {readAll} from '../../e2e/raw/tcp.js';

/** Connects a client to a target through a forwarder in this process. */
async function startForwarder(t: ExecutionContext, stage: Stage): Promise<{client: Socket; target: Socket}> {
	const server = createServer().listen(0, '127.0.0.1');
	t.teardown(() => server.close());
	const accepted = once(server, 'connection') as Promise<[Socket]>;
	await once(server, 'listening');
	const entry = await listenTcp({
		host: '127.0.0.1',
		port: 0,
		maxConnections: 1,
		onDropped: () => t.fail(),
		async accept(socket) {
			const targetSocket = connectTcpForForwarding({host: '127.0.0.1', port: portOf(server)});
			const [client, upstream] = [socket, targetSocket].map(end =>
				tcpEndpoint(end, {name: 'end', onBroken: ({message}) => t.fail(message)}),
			);
			await whenConnected(targetSocket);
			if (client && upstream) connect(client, [stage], upstream);
		},
	});
	t.teardown(() => entry.close());
	const client = connectSocket({port: portOf(entry), host: '127.0.0.1'});
	const [target] = await accepted;
	t.teardown(() => client.destroy());
	t.teardown(() => target.destroy());
	return {client, target};
}

test('delivers all chunks intact to a client that starts to read late, although all reads share one buffer [I1]', async t => {
	const passed = new Subject<boolean>();
	const {client, target} = await startForwarder(t, {
		toClient: map(envelope => {
			// After the chunk was written.
			setImmediate(() => passed.next(envelope.origin.valve.isOpen));
			return envelope;
		}),
	});
	const sent: Buffer[] = [];
	const sendChunk = (): void => {
		const chunk = randomBytes(1 + ((sent.length * 611) % 9000));
		sent.push(chunk);
		target.write(chunk);
	};
	// Chunks are sent one by one until the kernel does not accept one.
	const valveShut = new Promise<void>(resolve => {
		passed.subscribe(isOpen => {
			sendChunk();
			if (!isOpen) resolve();
		});
	});
	sendChunk();
	await valveShut;
	passed.complete();
	for (let more = 0; more < 100; more++) sendChunk();
	const received = readAll(client);
	target.end();
	t.true((await received).equals(Buffer.concat(sent)));
});
