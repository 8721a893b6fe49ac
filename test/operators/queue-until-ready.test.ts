import test from 'ava';
import {opening, VERSION} from '../helpers/bridge.js';
import {heard, initialize, initialized, ownHandshake, result, start} from './queue-until-ready-support.js';

test('what a client says before its handshake waits, and follows it in the order in which it came', t => {
	const ends = start();
	const {client, upstream} = ends;
	client.send({id: 'a', method: 'tools/list'});
	client.send({method: 'notifications/x'});
	t.deepEqual(heard(ends), []);
	initialize(ends);
	client.sendText('{"jsonrpc":"2.0", "id":1.0,"method":"tools/call"}');
	t.deepEqual(heard(ends), ['initialize 0']);
	upstream.send({id: 0, result});
	const texts = upstream.receivedTexts.slice(1);
	t.deepEqual(heard(ends).slice(1), [initialized.method, 'tools/list a', 'notifications/x', 'tools/call 1']);
	t.is(texts[3], '{"jsonrpc":"2.0", "id":1.0,"method":"tools/call"}');
	t.like(client.received, [{id: 0, result}]);
});

test('the client hears the answer to its initialize as the server gave it', t => {
	const ends = start();
	initialize(ends);
	const text = `{"id":0 ,"jsonrpc":"2.0","result":${JSON.stringify(result)}}`;
	ends.upstream.sendText(text);
	t.deepEqual(ends.client.receivedTexts, [text]);
});

test("the client's own initialized is passed on as it is, where nothing waited", t => {
	const ends = start();
	const {client, upstream, session} = ends;
	initialize(ends);
	upstream.send({id: 0, result});
	t.deepEqual(heard(ends), ['initialize 0']);
	t.false(session.isReady);
	const text = '{"method":"notifications/initialized", "jsonrpc":"2.0"}';
	client.sendText(text);
	t.is(upstream.receivedTexts[1], text);
	t.true(session.isPassThrough);
	client.send({id: 1, method: 'a'});
	t.deepEqual(heard(ends).slice(2), ['a 1']);
});

test('it is swallowed where bridge had to say so first', t => {
	const ends = start();
	const {client, upstream, session} = ends;
	initialize(ends);
	client.send({id: 1, method: 'a'});
	upstream.send({id: 0, result});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method, 'a 1']);
	t.false(session.isPassThrough);
	client.send(initialized);
	client.send({id: 2, method: 'b'});
	t.deepEqual(heard(ends).slice(3), ['b 2']);
	t.true(session.isPassThrough);
});

test('a client that goes on without it is initialized by bridge', t => {
	const ends = start();
	initialize(ends);
	ends.upstream.send({id: 0, result});
	ends.client.send({id: 1, method: 'a'});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method, 'a 1']);
});

test('an initialized that came before the answer reaches the server after it', t => {
	const ends = start();
	initialize(ends);
	ends.client.send(initialized);
	ends.upstream.send({id: 0, result});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method]);
});

test('messages of the server and answers to them pass at any time', t => {
	const ends = start();
	const {client, upstream} = ends;
	upstream.send({method: 'notifications/message'});
	upstream.send({id: 's', method: 'ping'});
	client.send({id: 's', result: {}});
	t.like(client.received, [{method: 'notifications/message'}, {id: 's', method: 'ping'}]);
	t.like(upstream.received, [{id: 's', result: {}}]);
});

test('a ping is answered by bridge at once as long as nobody is ready, and by the server from then on', t => {
	const ends = start();
	const {client, upstream} = ends;
	client.send({id: 1, method: 'ping'});
	initialize(ends);
	client.send({id: 'p', method: 'ping'});
	t.like(client.received, [
		{id: 1, result: {}},
		{id: 'p', result: {}},
	]);
	t.is(client.received.length, 2);
	upstream.send({id: 0, result});
	client.send(initialized);
	client.send({id: 2, method: 'ping'});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method, 'ping 2']);
});

test('a request that is cancelled while it waits is never sent, nor is its cancellation', t => {
	const ends = start();
	const {client, upstream} = ends;
	for (const id of [1, 2, '1']) client.send({id, method: 'a'});
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	client.send({method: 'notifications/cancelled', params: {requestId: 'unknown'}});
	initialize(ends);
	upstream.send({id: 0, result});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method, 'a 2', 'a 1']);
	t.is(upstream.received.at(-1)?.id, '1');
	client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	t.like(upstream.received.at(-1), {method: 'notifications/cancelled', params: {requestId: 2}});
});

test('bridge shakes hands itself for a client that asks for other things and does not', async t => {
	const ends = start(1);
	const {client, upstream, session} = ends;
	client.send({id: 1, method: 'a'});
	const id = await ownHandshake(ends);
	t.regex(String(id), /^bridge-/);
	t.like(upstream.received[0], {
		method: 'initialize',
		params: {protocolVersion: VERSION, capabilities: {}, clientInfo: {name: 'bridge'}},
	});
	upstream.send({id, result});
	t.deepEqual(heard(ends).slice(1), [initialized.method, 'a 1']);
	t.deepEqual(client.received, []);
	t.is(session.clientVersion, VERSION);
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, result: {}}]);
});

test('a client that is only late, with nothing but notifications, is waited for', async t => {
	const ends = start(1);
	ends.client.send({method: 'notifications/x'});
	const other = start(1);
	other.client.send({id: 1, method: 'a'});
	await ownHandshake(other);
	t.deepEqual(heard(ends), []);
	initialize(ends);
	ends.upstream.send({id: 0, result});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method, 'notifications/x']);
});

test('a client that initializes within the grace time does so itself', async t => {
	const ends = start(50);
	ends.client.send({id: 1, method: 'a'});
	initialize(ends);
	// By then the time is over for the first one, too.
	const other = start(50);
	other.client.send({id: 1, method: 'a'});
	await ownHandshake(other);
	t.deepEqual(heard(ends), ['initialize 0']);
});

for (const version of [VERSION, '2024-11-05'] as const)
	test(`an initialize for ${version} that comes after bridge's own is answered from what the server said`, async t => {
		const ends = start(1);
		const {client, upstream, session} = ends;
		client.send({id: 1, method: 'a'});
		const id = await ownHandshake(ends);
		initialize(ends, 'while it is asked', version);
		t.deepEqual(client.received, []);
		upstream.send({id, result});
		t.deepEqual(client.received, [
			{jsonrpc: '2.0', id: 'while it is asked', result: {...result, protocolVersion: version}},
		]);
		initialize(ends, 'later', version);
		t.deepEqual(client.received[1]?.result, {...result, protocolVersion: version});
		t.is(session.clientVersion, version);
		t.deepEqual(session.clientInfo, opening.clientInfo);
		client.send(initialized);
		t.deepEqual(heard(ends).slice(1), [initialized.method, 'a 1']);
	});
