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

/** A client, a target, and what forwards between them, in this process. */
async function forwarding(t: ExecutionContext, stage: Stage): Promise<{client: Socket; target: Socket}> {
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
			const onward = connectTcpForForwarding({host: '127.0.0.1', port: portOf(server)});
			const [client, upstream] = [socket, onward].map(end =>
				tcpEndpoint(end, {name: 'end', onBroken: ({message}) => t.fail(message)}),
			);
			await whenConnected(onward);
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

test('pieces for a client that does not read are whole when it does, although all are read into the same memory [I1]', async t => {
	const passed = new Subject<boolean>();
	const {client, target} = await forwarding(t, {
		toClient: map(envelope => {
			// When it has gone its way.
			setImmediate(() => passed.next(envelope.origin.valve.isOpen));
			return envelope;
		}),
	});
	const said: Buffer[] = [];
	const say = (): void => {
		const piece = randomBytes(1 + ((said.length * 611) % 9000));
		said.push(piece);
		target.write(piece);
	};
	// Each goes alone, until the system has no room for one.
	const held = new Promise<void>(resolve => {
		passed.subscribe(isOpen => {
			say();
			if (!isOpen) resolve();
		});
	});
	say();
	await held;
	passed.complete();
	for (let more = 0; more < 100; more++) say();
	const heard = readAll(client);
	target.end();
	t.true((await heard).equals(Buffer.concat(said)));
});
