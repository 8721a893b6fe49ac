import test from 'ava';
import {settled, until} from '../../helpers/pipeline.js';
import {RESULT, share, shareWithClients} from './support.js';

test('starts and initializes the upstream once, when the first client attaches', t => {
	const shared = share(t);
	t.is(shared.servers.length, 0);
	t.is(shared.upstream.state.phase, 'idle');
	const [a, b] = [shared.join(), shared.join()];
	t.is(shared.servers.length, 1);
	t.is(shared.upstream.state.phase, 'connecting');
	t.deepEqual(
		shared.server().received.map(({method}) => method),
		['initialize'],
	);
	t.like(shared.lastReceived('initialize').params, {
		protocolVersion: '2025-11-25',
		capabilities: {roots: {listChanged: true}, sampling: {}, elicitation: {form: {}, url: {}}},
	});
	shared.ready();
	for (const client of [a, b]) client.initialize();
	t.deepEqual(
		shared.server().received.map(({method}) => method),
		['initialize', 'notifications/initialized'],
	);
	t.like(shared.upstream.state, {phase: 'ready', clients: 2, restarts: 0, version: '2025-11-25'});
});

test('responds to each initialize with the upstream’s own result, byte for byte', t => {
	const {join, ready} = share(t);
	const [a, b] = [join(), join()];
	a.send({id: 7, method: 'initialize', params: {protocolVersion: '2024-11-05'}});
	t.deepEqual(a.texts, []);
	ready();
	b.sendText('{"jsonrpc":"2.0","id":"x","method":"initialize","params":{}}');
	t.deepEqual(a.texts, [`{"jsonrpc":"2.0","id":7,"result":${RESULT}}`]);
	t.deepEqual(b.texts, [`{"jsonrpc":"2.0","id":"x","result":${RESULT}}`]);
});

test('requests another version if the upstream rejects one', t => {
	const {join, server, ready, upstream} = share(t);
	const a = join();
	server().send({id: 'bridge-initialize', error: {code: -32602, message: 'I speak 2025-03-26 only'}});
	t.like(server().received.at(-1), {method: 'initialize', params: {protocolVersion: '2025-03-26'}});
	const old = RESULT.replace('2025-11-25', '2025-03-26');
	ready(old);
	a.send({id: 1, method: 'initialize', params: {}});
	t.deepEqual(a.texts, [`{"jsonrpc":"2.0","id":1,"result":${old}}`]);
	t.is(upstream.state.version, '2025-03-26');
});

test('requests the configured target version', t => {
	const {join, lastReceived} = share(t, {targetVersion: '2025-03-26'});
	join();
	t.like(lastReceived('initialize').params, {protocolVersion: '2025-03-26'});
});

test('gives a stateless upstream a handshake, and sends its input requests only to the client of the call', t => {
	const shared = share(t, {targetVersion: '2026-07-28'});
	const [a, b] = [shared.join(), shared.join()];
	const {id} = shared.lastReceived('server/discover');
	const capabilities = {tools: {}};
	shared
		.server()
		.send({id, result: {resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities}});
	a.initialize({elicitation: {}});
	b.initialize({elicitation: {}});
	a.send({id: 1, method: 'tools/call', params: {name: 'one'}});
	const call = shared.lastReceived('tools/call');
	b.send({id: 1, method: 'tools/call', params: {name: 'two'}});
	const params = {mode: 'form', message: 'Sure?', requestedSchema: {type: 'object', properties: {}}};
	const inputRequests = {sure: {method: 'elicitation/create', params}};
	shared.server().send({id: call.id, result: {resultType: 'input_required', inputRequests}});
	t.deepEqual(b.received, []);
	t.like(a.received, [{method: 'elicitation/create'}]);
	a.send({id: a.received[0]?.id, result: {action: 'accept', content: {}}});
	const retry = shared.lastReceived('tools/call');
	t.like(retry.params, {name: 'one', inputResponses: {sure: {action: 'accept'}}});
	shared.server().send({id: retry.id, result: {resultType: 'complete', content: []}});
	t.like(a.received[1], {id: 1, result: {content: []}});
});

test('queues messages in order until the upstream is ready, without cancelled requests', t => {
	const {join, ready, server} = share(t);
	const [a, b] = [join(), join()];
	a.send({id: 1, method: 'one'});
	b.send({id: 1, method: 'two'});
	a.send({id: 2, method: 'three'});
	b.send({method: 'notifications/cancelled', params: {requestId: 1}});
	ready();
	t.deepEqual(
		server().received.map(({method}) => method),
		['initialize', 'notifications/initialized', 'one', 'three'],
	);
});

test('rejects messages over the limit of the queue with -31003, and keeps the queued ones', t => {
	const {join, ready, server} = share(t);
	const a = join();
	for (let id = 0; id < 1001; id++) a.send({id, method: 'ping'});
	t.like(a.received, [{id: 1000, error: {code: -31_003}}]);
	a.send({id: 'big', method: 'ping', params: {text: 'x'.repeat(100)}});
	t.like(a.received[1], {id: 'big', error: {code: -31_003}});
	ready();
	t.is(server().received.filter(({method}) => method === 'ping').length, 1000);
	t.is(a.received.length, 2);
});

test('rejects a message over the byte limit of the queue', t => {
	const {join, server, ready} = share(t);
	const a = join();
	const text = 'x'.repeat(5 * 2 ** 20);
	a.send({id: 1, method: 'one', params: {text}});
	a.send({id: 2, method: 'two', params: {text}});
	t.like(a.received, [{id: 2, error: {code: -31_003}}]);
	ready();
	t.is(server().received.at(-1)?.method, 'one');
});

test('keeps the upstream running when a client disconnects', async t => {
	const {a, b, server, lastReceived, upstream} = shareWithClients(t, {}, {});
	await a.endpoint.close();
	await a.endpoint.disconnected;
	t.is(await a.ended, undefined);
	t.is(upstream.state.clients, 1);
	b.send({id: 1, method: 'x'});
	server().send({id: lastReceived('x').id, result: {}});
	t.like(b.received, [{id: 1, result: {}}]);
});

test('disconnects a client whose input has ended after its last response', async t => {
	const {a, server, lastReceived} = shareWithClients(t, {}, {});
	a.send({id: 1, method: 'x'});
	a.endpoint.outgoing.complete();
	await settled();
	server().send({id: lastReceived('x').id, result: {}});
	t.is(await a.ended, undefined);
	t.like(a.received, [{id: 1, result: {}}]);
});

test('stops the upstream some time after the last client, and starts it for the next one', async t => {
	const {join, servers, ready, upstream} = share(t, {idleMs: 1});
	const a = join();
	ready();
	a.initialize();
	await a.endpoint.close();
	t.is(upstream.state.phase, 'ready');
	await until(() => upstream.state.phase === 'idle');
	t.is(servers.length, 1);
	join();
	t.is(servers.length, 2);
	t.is(upstream.state.restarts, 0);
});

test('reuses the running upstream for a client that attaches within the idle time', async t => {
	const {a, join, servers} = shareWithClients(t, {});
	await a.endpoint.close();
	const next = join();
	next.initialize();
	next.send({id: 1, method: 'initialize', params: {}});
	t.like(next.received, [{id: 1, result: {serverInfo: {name: 'files'}}}]);
	t.is(servers.length, 1);
});

test('disconnects all clients on close, and rejects new ones', async t => {
	const {a, b, upstream} = shareWithClients(t, {}, {});
	await upstream.close();
	t.is(await a.ended, undefined);
	t.is(await b.ended, undefined);
	t.is(upstream.state.phase, 'closed');
	t.like(
		t.throws(() => upstream.attach('late')),
		{code: 'ERR_SESSION_CLOSED'},
	);
});
