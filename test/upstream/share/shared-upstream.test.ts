import test from 'ava';
import {settled, until} from '../../helpers/pipeline.js';
import {RESULT, share, sharing} from './support.js';

test('the server is started when the first client comes, and greeted once', t => {
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
	t.like(shared.told('initialize').params, {
		protocolVersion: '2025-11-25',
		capabilities: {roots: {listChanged: true}, sampling: {}, elicitation: {form: {}, url: {}}},
	});
	shared.ready();
	for (const guest of [a, b]) guest.greet();
	t.deepEqual(
		shared.server().received.map(({method}) => method),
		['initialize', 'notifications/initialized'],
	);
	t.like(shared.upstream.state, {phase: 'ready', clients: 2, restarts: 0, version: '2025-11-25'});
});

test('every client is answered with the server’s own result, character for character', t => {
	const {join, ready} = share(t);
	const [a, b] = [join(), join()];
	a.say({id: 7, method: 'initialize', params: {protocolVersion: '2024-11-05'}});
	t.deepEqual(a.texts, []);
	ready();
	b.sayText('{"jsonrpc":"2.0","id":"x","method":"initialize","params":{}}');
	t.deepEqual(a.texts, [`{"jsonrpc":"2.0","id":7,"result":${RESULT}}`]);
	t.deepEqual(b.texts, [`{"jsonrpc":"2.0","id":"x","result":${RESULT}}`]);
});

test('a server that refuses a version is asked for another', t => {
	const {join, server, ready, upstream} = share(t);
	const a = join();
	server().send({id: 'bridge-initialize', error: {code: -32602, message: 'I speak 2025-03-26 only'}});
	t.like(server().received.at(-1), {method: 'initialize', params: {protocolVersion: '2025-03-26'}});
	const old = RESULT.replace('2025-11-25', '2025-03-26');
	ready(old);
	a.say({id: 1, method: 'initialize', params: {}});
	t.deepEqual(a.texts, [`{"jsonrpc":"2.0","id":1,"result":${old}}`]);
	t.is(upstream.state.version, '2025-03-26');
});

test('a server is asked for the version that is wanted', t => {
	const {join, told} = share(t, {targetVersion: '2025-03-26'});
	join();
	t.like(told('initialize').params, {protocolVersion: '2025-03-26'});
});

test('a server without a handshake is one with it to its clients, and asks only whose call it is', t => {
	const shared = share(t, {targetVersion: '2026-07-28'});
	const [a, b] = [shared.join(), shared.join()];
	const {id} = shared.told('server/discover');
	const capabilities = {tools: {}};
	shared
		.server()
		.send({id, result: {resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities}});
	a.greet({elicitation: {}});
	b.greet({elicitation: {}});
	a.say({id: 1, method: 'tools/call', params: {name: 'one'}});
	const call = shared.told('tools/call');
	b.say({id: 1, method: 'tools/call', params: {name: 'two'}});
	const params = {mode: 'form', message: 'Sure?', requestedSchema: {type: 'object', properties: {}}};
	const inputRequests = {sure: {method: 'elicitation/create', params}};
	shared.server().send({id: call.id, result: {resultType: 'input_required', inputRequests}});
	t.deepEqual(b.heard, []);
	t.like(a.heard, [{method: 'elicitation/create'}]);
	a.say({id: a.heard[0]?.id, result: {action: 'accept', content: {}}});
	const retry = shared.told('tools/call');
	t.like(retry.params, {name: 'one', inputResponses: {sure: {action: 'accept'}}});
	shared.server().send({id: retry.id, result: {resultType: 'complete', content: []}});
	t.like(a.heard[1], {id: 1, result: {content: []}});
});

test('what comes before the server is ready waits, in order, and what is given up is never asked', t => {
	const {join, ready, server} = share(t);
	const [a, b] = [join(), join()];
	a.say({id: 1, method: 'one'});
	b.say({id: 1, method: 'two'});
	a.say({id: 2, method: 'three'});
	b.say({method: 'notifications/cancelled', params: {requestId: 1}});
	ready();
	t.deepEqual(
		server().received.map(({method}) => method),
		['initialize', 'notifications/initialized', 'one', 'three'],
	);
});

test('what is too much to wait is refused with -31003, and nothing that waits is lost', t => {
	const {join, ready, server} = share(t);
	const a = join();
	for (let id = 0; id < 1001; id++) a.say({id, method: 'ping'});
	t.like(a.heard, [{id: 1000, error: {code: -31_003}}]);
	a.say({id: 'big', method: 'ping', params: {text: 'x'.repeat(100)}});
	t.like(a.heard[1], {id: 'big', error: {code: -31_003}});
	ready();
	t.is(server().received.filter(({method}) => method === 'ping').length, 1000);
	t.is(a.heard.length, 2);
});

test('a message that is too large to wait is refused', t => {
	const {join, server, ready} = share(t);
	const a = join();
	const text = 'x'.repeat(5 * 2 ** 20);
	a.say({id: 1, method: 'one', params: {text}});
	a.say({id: 2, method: 'two', params: {text}});
	t.like(a.heard, [{id: 2, error: {code: -31_003}}]);
	ready();
	t.is(server().received.at(-1)?.method, 'one');
});

test('a client that leaves does not end the server', async t => {
	const {a, b, server, told, upstream} = sharing(t, {}, {});
	await a.endpoint.close();
	await a.endpoint.disconnected;
	t.is(await a.ended, undefined);
	t.is(upstream.state.clients, 1);
	b.say({id: 1, method: 'x'});
	server().send({id: told('x').id, result: {}});
	t.like(b.heard, [{id: 1, result: {}}]);
});

test('a client that says no more hears what it waits for, and then the end', async t => {
	const {a, server, told} = sharing(t, {}, {});
	a.say({id: 1, method: 'x'});
	a.endpoint.outgoing.complete();
	await settled();
	server().send({id: told('x').id, result: {}});
	t.is(await a.ended, undefined);
	t.like(a.heard, [{id: 1, result: {}}]);
});

test('the server stays for a while when the last client has left, and is started anew for the next one', async t => {
	const {join, servers, ready, upstream} = share(t, {idleMs: 1});
	const a = join();
	ready();
	a.greet();
	await a.endpoint.close();
	t.is(upstream.state.phase, 'ready');
	await until(() => upstream.state.phase === 'idle');
	t.is(servers.length, 1);
	join();
	t.is(servers.length, 2);
	t.is(upstream.state.restarts, 0);
});

test('a client that comes in time finds the server running', async t => {
	const {a, join, servers} = sharing(t, {});
	await a.endpoint.close();
	const next = join();
	next.greet();
	next.say({id: 1, method: 'initialize', params: {}});
	t.like(next.heard, [{id: 1, result: {serverInfo: {name: 'files'}}}]);
	t.is(servers.length, 1);
});

test('closing it ends all clients, and nobody comes after that', async t => {
	const {a, b, upstream} = sharing(t, {}, {});
	await upstream.close();
	t.is(await a.ended, undefined);
	t.is(await b.ended, undefined);
	t.is(upstream.state.phase, 'closed');
	t.like(
		t.throws(() => upstream.attach('late')),
		{code: 'ERR_SESSION_CLOSED'},
	);
});
