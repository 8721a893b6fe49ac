import test, {type ExecutionContext} from 'ava';
import {Envelope} from '../../lib/core/envelope.js';
import {createLog} from '../../lib/core/log.js';
import {type MemoryEndpoint, memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {child} from '../../lib/transports/process/child.js';
import {restartingUpstream} from '../../lib/upstream/restart.js';
import {StartQueue} from '../../lib/upstream/start-queue.js';
import {until} from '../helpers/pipeline.js';

test('waits on close until the child has exited', async t => {
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
		onReinitialized: () => t.fail('unexpected restart'),
		onDisconnect: () => t.fail('unexpected disconnect'),
	});
	server.incoming.subscribe();
	await server.close();
	t.like(await started.exited, {code: 0});
});

test('does not forward a request that was cancelled during the restart', async t => {
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

test('fails the request if the upstream cannot be started, and starts it for the next one [U-P0-2]', async t => {
	const {server, started, received} = failing(t, 2);
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'ping'}));
	await until(() => received.length === 1);
	t.like(received[0]?.body, {id: 1, error: {code: -31001}});
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 2, method: 'ping'}));
	await until(() => started[0]?.received.length === 1);
	t.like(started[0]?.received[0], {id: 2});
	await server.close();
});

test('drops notifications for an exited upstream, so that the request that restarts it is read [U-P0-2]', async t => {
	const {server, started} = failing(t, 1);
	const notification = Envelope.of({jsonrpc: '2.0', method: 'notifications/roots/list_changed'});
	for (let count = 0; count < 1500; count++) server.outgoing.next(notification);
	t.true(notification.origin.valve.isOpen);
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 2, method: 'ping'}));
	await until(() => (started[0]?.received.length ?? 0) > 0);
	t.like(started[0]?.received[0], {id: 2});
	await server.close();
});

test('does not start an upstream while bridge drains, and fails requests at once [U-P0-2]', async t => {
	const {server, started, received} = failing(t, 0, undefined, () => true);
	for (const id of [1, 2]) {
		server.outgoing.next(Envelope.of({jsonrpc: '2.0', id, method: 'ping'}));
		await until(() => received.length === id);
		t.like(received[id - 1]?.body, {id, error: {code: -31005}});
	}
	t.is(started.length, 0);
	await server.close();
});

test('does not start an upstream whose client disconnects while its start is queued [SEC-D16]', async t => {
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

/** An upstream whose first `failures` starts throw. */
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
		onReinitialized: () => t.fail('unexpected handshake'),
		onDisconnect: () => {},
	});
	const received: Envelope[] = [];
	server.incoming.subscribe(envelope => received.push(envelope));
	return {server, started, received};
}
