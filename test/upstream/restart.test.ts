import test, {type ExecutionContext} from 'ava';
import {Envelope} from '../../lib/core/envelope.js';
import {createLog} from '../../lib/core/log.js';
import {type MemoryEndpoint, memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {child} from '../../lib/transports/process/child.js';
import {restartingUpstream} from '../../lib/upstream/restart.js';
import {StartQueue} from '../../lib/upstream/start-queue.js';
import {until} from '../helpers/pipeline.js';

test('A server that is closed has ended when close is done', async t => {
	const program =
		'process.stdin.on("data", () => console.log(JSON.stringify({jsonrpc: "2.0", method: "hello"})))';
	const started = child({
		name: 'server',
		command: process.execPath,
		args: ['-e', program],
		onStderr: () => {},
	});
	const server = restartingUpstream({
		name: 'server',
		log: createLog({level: 'error', write: () => {}, isPretty: false}),
		open: () => started,
		ownId: () => 'own',
		onReinitialized: () => t.fail('it is not started again'),
		onDisconnect: () => t.fail('it was not lost'),
	});
	server.incoming.subscribe();
	await server.close();
	t.like(await started.exited, {code: 0});
});

test('What is cancelled while the server is away is not said when it is back', async t => {
	const {server, started} = failing(t, 0);
	const [first] = started;
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', method: 'notifications/hello'}));
	await until(() => first?.received.length === 1);
	first?.end();
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'tools/call'}));
	server.outgoing.next(
		Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}}),
	);
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 2, method: 'tools/call'}));
	await until(() => started[1]?.received.length === 1);
	t.like(started[1]?.received[0], {id: 2});
	await server.close();
});

test('a server that cannot be started fails the request, and is started for the next one [U-P0-2]', async t => {
	const {server, started, heard} = failing(t, 2);
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'ping'}));
	await until(() => heard.length === 1);
	t.like(heard[0]?.body, {id: 1, error: {code: -31001}});
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 2, method: 'ping'}));
	await until(() => started[0]?.received.length === 1);
	t.like(started[0]?.received[0], {id: 2});
	await server.close();
});

test('notifications for a server that exited are not queued, so that the request that starts it is read [U-P0-2]', async t => {
	const {server, started} = failing(t, 1);
	const notification = Envelope.of({jsonrpc: '2.0', method: 'notifications/roots/list_changed'});
	for (let count = 0; count < 1500; count++) server.outgoing.next(notification);
	t.true(notification.origin.valve.isOpen);
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 2, method: 'ping'}));
	await until(() => (started[0]?.received.length ?? 0) > 0);
	t.like(started[0]?.received[0], {id: 2});
	await server.close();
});

test('a server is not started while bridge drains, and requests fail at once [U-P0-2]', async t => {
	const {server, started, heard} = failing(t, 0, undefined, () => true);
	for (const id of [1, 2]) {
		server.outgoing.next(Envelope.of({jsonrpc: '2.0', id, method: 'ping'}));
		await until(() => heard.length === id);
		t.like(heard[id - 1]?.body, {id, error: {code: -31005}});
	}
	t.is(started.length, 0);
	await server.close();
});

test('a server whose client leaves while its start is queued is not started [SEC-D16]', async t => {
	let now = 0;
	const starts = new StartQueue(
		() => true,
		() => now,
	);
	for (let at = 0; at < 25; at++)
		starts.add(() => {
			now += 10;
		});
	const {server, started} = failing(t, 0, starts);
	const other = failing(t, 0, starts);
	other.server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'ping'}));
	await server.close();
	now += 10_000;
	await until(() => other.started[0]?.received.length === 1);
	t.like(other.started[0]?.received[0], {id: 1});
	t.is(started.length, 0);
	await other.server.close();
});

/** A server whose first starts throw, and then are there until they end. */
function failing(
	t: ExecutionContext,
	failures: number,
	starts = new StartQueue(() => false),
	isDraining = () => false,
) {
	const started: MemoryEndpoint[] = [];
	let attempts = 0;
	const server = restartingUpstream({
		name: 'server',
		log: createLog({level: 'error', write: () => {}, isPretty: false}),
		open: () => {
			if (attempts++ < failures) throw new TypeError('no more files can be opened');
			const next = memoryEndpoint('server');
			started.push(next);
			return next;
		},
		starts,
		isDraining,
		ownId: () => 'own',
		onReinitialized: () => t.fail('there was no handshake'),
		onDisconnect: () => {},
	});
	const heard: Envelope[] = [];
	server.incoming.subscribe(envelope => heard.push(envelope));
	return {server, started, heard};
}
