import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {OwnerMap} from '../../../lib/upstream/share/owner-map.js';
import {ResourceSubscriptions} from '../../../lib/upstream/share/resource-subscriptions.js';
import {SharedServerRequests} from '../../../lib/upstream/share/shared-server-requests.js';
import {share, shareWithClients} from './support.js';

const origin: MessageOrigin = {name: 'files', valve: new Valve()};

test('limits the number of pending server requests', t => {
	const serverRequests = new SharedServerRequests<string>();
	const request = Envelope.received(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'), origin);
	for (let at = 0; at < 10_000; at++) serverRequests.add('ann', request);
	t.like(
		t.throws(() => serverRequests.add('bob', request)),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.is(serverRequests.removeClient('ann').length, 10_000);
	t.notThrows(() => serverRequests.add('bob', request));
});

test('rejects server requests over the limit', t => {
	const {a, server} = shareWithClients(t, {roots: {}});
	a.send({id: 1, method: 'x'});
	for (let id = 0; id <= 10_000; id++) server().send({id, method: 'roots/list'});
	t.is(a.received.length, 10_000);
	t.like(server().received.at(-1), {id: 10_000, error: {code: -31_003}});
});

test('limits the number of subscribed resources', t => {
	const subscriptions = new ResourceSubscriptions<string>();
	for (let at = 0; at < 10_000; at++) subscriptions.add('ann', `file:///${at}`, () => {});
	t.like(
		t.throws(() => subscriptions.add('ann', 'file:///more', () => {})),
		{code: 'ERR_SESSION_BUSY'},
	);
	t.notThrows(() => subscriptions.add('bob', 'file:///0', () => {}));
});

test('disconnects a client that stops reading, with a warning and without blocking others [F3]', async t => {
	const {join, ready, server, lastReceived, logged, upstream} = share(t, {maxUnreadBytes: 1000});
	const [slow, fast] = [join('slow'), join('fast')];
	ready();
	for (const client of [slow, fast]) client.initialize();
	slow.send({id: 1, method: 'x'});
	const {id} = lastReceived('x');
	const shut: Array<() => void> = [];
	slow.onMessage = envelope => void shut.push(envelope.origin.valve.shut());
	for (let at = 0; at < 20; at++)
		server().send({method: 'notifications/message', params: {level: 'info', data: 'x'.repeat(100)}});
	t.is(fast.received.length, 20);
	t.true(fast.origin.valve.isOpen && server().origin.valve.isOpen);
	t.like(await slow.ended, {code: 'ERR_SESSION_STALLED'});
	await slow.endpoint.disconnected;
	t.is(slow.received.length, 1);
	t.is(upstream.state.clients, 1);
	t.like(lastReceived('notifications/cancelled').params, {requestId: Number(id)});
	t.like(await logged('sse.slow_client'), [{client: 'slow', server: 'files'}]);
	t.true(slow.origin.valve.isOpen, 'its own messages are no longer blocked');
});

test('stops reading from a client that does not read, until it does [F1]', t => {
	const {a, server, lastReceived} = shareWithClients(t, {});
	a.send({id: 1, method: 'x'});
	let open: (() => void) | undefined;
	a.onMessage = envelope => {
		open ??= envelope.origin.valve.shut();
	};
	const {id} = lastReceived('x');
	server().send({method: 'notifications/odd'});
	t.true(a.origin.valve.isOpen);
	server().send({id, result: {}});
	t.false(a.origin.valve.isOpen);
	t.is(a.received.length, 1);
	open?.();
	t.true(a.origin.valve.isOpen);
	t.is(a.received.length, 2);
});

test('disconnects only the client whose pipeline fails', async t => {
	const {a, b, server, logged} = shareWithClients(t, {}, {});
	a.endpoint.outgoing.error(new Error('The client broke.'));
	t.is(await a.ended, undefined);
	server().send({method: 'notifications/odd'});
	t.is(b.received.length, 1);
	t.deepEqual(await logged('bug'), []);
});

test('rejects a server request whose id is too long to be stored [SEC-D5]', t => {
	const {a, server} = shareWithClients(t, {roots: {}});
	a.send({id: 1, method: 'x'});
	const id = 'i'.repeat(5000);
	server().send({id, method: 'roots/list'});
	t.is(a.received.length, 0);
	t.like(server().received.at(-1), {id, error: {data: {limit: 4096}}});
	server().send({id: 'i'.repeat(4000), method: 'roots/list'});
	t.is(a.received.length, 1);
});

test('rejects a request of a client whose id or method is too long to be stored [SEC-D5]', t => {
	const {a, allReceived} = shareWithClients(t, {});
	const id = 'i'.repeat(5000);
	a.send({id, method: 'x'});
	t.like(a.received.at(-1), {id, error: {data: {limit: 4096}}});
	a.send({id: 1, method: 'x'.repeat(5000)});
	t.like(a.received.at(-1), {id: 1, error: {data: {limit: 4096}}});
	a.send({id: 2, method: 'x'});
	t.is(allReceived('x').length, 1);
});

test('cancels a server request by any spelling of its id, and keeps the others [SEC-D11]', t => {
	const serverRequests = new SharedServerRequests<string>();
	const add = (id: string) =>
		serverRequests.add(
			'ann',
			Envelope.fromText(`{"jsonrpc":"2.0","id":${id},"method":"roots/list"}`, origin),
		);
	const [one, other] = [add('"a"'), add('"b"')];
	t.is(serverRequests.cancel('"\\u0061"'), one);
	t.is(serverRequests.cancel('"a"'), undefined);
	t.is(serverRequests.take('ann', other.clientSideId), other);
	t.is(serverRequests.cancel('"b"'), undefined);
});

test('stores long task names as short keys [SEC-D5]', t => {
	const owners = new OwnerMap<string>();
	const name = 'n'.repeat(100_000);
	owners.set(name, 'ann');
	owners.set({toString: 'bob'}, 'bob');
	t.is(owners.get(name), 'ann');
	t.is(owners.get(`${name}n`), undefined);
	const keys = [...owners.keys()];
	t.is(keys.length, 1);
	t.true(String(keys[0]).length < 100);
});

test('rejects a second subscription of a client while the first has no response [SEC-D5]', t => {
	const {a, b, server, lastReceived} = shareWithClients(t, {}, {});
	const params = {uri: 'file:///a'};
	a.send({id: 1, method: 'resources/subscribe', params});
	for (let id = 2; id < 5; id++) a.send({id, method: 'resources/subscribe', params});
	b.send({id: 1, method: 'resources/subscribe', params});
	t.deepEqual(
		a.received.map(({id}) => id),
		[2, 3, 4],
	);
	t.like(a.received[0], {error: {code: -31_003}});
	t.is(b.received.length, 0);
	server().send({id: lastReceived('resources/subscribe').id, result: {}});
	t.like(a.received.at(-1), {id: 1, result: {}});
	t.like(b.received, [{id: 1, result: {}}]);
	a.send({id: 5, method: 'resources/subscribe', params});
	t.like(a.received.at(-1), {id: 5, result: {}});
});

test('drops the pending subscriptions of a client that disconnects [SEC-D5]', t => {
	const subscriptions = new ResourceSubscriptions<string>();
	const added = subscriptions.add('ann', 'file:///a', () => {});
	for (let at = 0; at < 100; at++) {
		subscriptions.add(`client ${at}`, 'file:///a', () => t.fail());
		t.deepEqual(subscriptions.removeClient(`client ${at}`), []);
	}
	t.is(added?.pending.size, 1);
	subscriptions.removeClient('ann');
	t.deepEqual(subscriptions.uris, []);
});

test('truncates a handshake error before each queued request gets it [SEC-D5]', t => {
	const {join, server} = share(t);
	const a = join();
	for (let id = 0; id < 10; id++) a.send({id, method: 'tools/list'});
	const error = {code: -32000, message: `no license ${'x'.repeat(100_000)}`};
	// Bridge tries the other versions, too.
	const first = server();
	for (let at = 0; at < first.received.length; at++) first.send({id: first.received[at]?.id, error});
	t.is(a.received.length, 10);
	for (const text of a.texts) {
		t.regex(text, /files rejected initialize: no license xxx/);
		t.true(text.length < 3000);
	}
});
