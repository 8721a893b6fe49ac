import test, {type ExecutionContext} from 'ava';
import {Envelope} from '../../lib/envelope.js';
import {createLog} from '../../lib/log.js';
import {child} from '../../lib/transports/child.js';
import {type Memory, memory} from '../../lib/transports/memory.js';
import {revived} from '../../lib/transports/revived.js';
import {Starts} from '../../lib/transports/starts.js';
import {until} from '../operators/support.js';

test('A server that is closed has ended when close is done', async t => {
	const program =
		'process.stdin.on("data", () => console.log(JSON.stringify({jsonrpc: "2.0", method: "hello"})))';
	const started = child({
		name: 'server',
		command: process.execPath,
		args: ['-e', program],
		onStderr: () => {},
	});
	const server = revived({
		name: 'server',
		log: createLog({level: 'error', write: () => {}, isPretty: false}),
		open: () => started,
		ownId: () => 'own',
		onRevived: () => t.fail('it is not started again'),
		onLoss: () => t.fail('it was not lost'),
	});
	server.incoming.subscribe();
	await server.close();
	t.like(await started.exited, {code: 0});
});

test('What is cancelled while the server is away is not said when it is back', async t => {
	const {server, started} = failing(t, 0);
	const [first] = started;
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', method: 'notifications/hello'}));
	await until(() => first?.heard.length === 1);
	first?.end();
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'tools/call'}));
	server.outgoing.next(
		Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}}),
	);
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 2, method: 'tools/call'}));
	await until(() => started[1]?.heard.length === 1);
	t.like(started[1]?.heard[0], {id: 2});
	await server.close();
});

test('A server that cannot even be tried is tried again', async t => {
	const {server, started} = failing(t, 2);
	server.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'ping'}));
	await until(() => started[0]?.heard.length === 1);
	t.like(started[0]?.heard[0], {id: 1});
	await server.close();
});

test('a server whose client leaves while its start is queued is not started [SEC-D16]', async t => {
	let now = 0;
	const starts = new Starts(
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
	await until(() => other.started[0]?.heard.length === 1);
	t.like(other.started[0]?.heard[0], {id: 1});
	t.is(started.length, 0);
	await other.server.close();
});

/** A server whose first starts throw, and then are there until they end. */
function failing(t: ExecutionContext, failures: number, starts = new Starts(() => false)) {
	const started: Memory[] = [];
	let attempts = 0;
	const server = revived({
		name: 'server',
		log: createLog({level: 'error', write: () => {}, isPretty: false}),
		open: () => {
			if (attempts++ < failures) throw new TypeError('no more files can be opened');
			const next = memory('server');
			started.push(next);
			return next;
		},
		starts,
		ownId: () => 'own',
		onRevived: () => t.fail('there was no handshake'),
		onLoss: () => {},
	});
	server.incoming.subscribe();
	return {server, started};
}
