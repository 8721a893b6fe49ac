import test from 'ava';
import {opening, VERSION} from '../helpers/bridge.js';
import {
	initialize,
	initialized,
	ownInitialize,
	receivedUpstream,
	result,
	start,
} from './queue-until-ready-support.js';

test('queues messages before the handshake, and sends them in order after it', t => {
	const ends = start();
	const {client, upstream} = ends;
	client.send({id: 'a', method: 'tools/list'});
	client.send({method: 'notifications/x'});
	t.deepEqual(receivedUpstream(ends), []);
	initialize(ends);
	client.sendText('{"jsonrpc":"2.0", "id":1.0,"method":"tools/call"}');
	t.deepEqual(receivedUpstream(ends), ['initialize 0']);
	upstream.send({id: 0, result});
	const texts = upstream.receivedTexts.slice(1);
	t.deepEqual(receivedUpstream(ends).slice(1), [
		initialized.method,
		'tools/list a',
		'notifications/x',
		'tools/call 1',
	]);
	t.is(texts[3], '{"jsonrpc":"2.0", "id":1.0,"method":"tools/call"}');
	t.like(client.received, [{id: 0, result}]);
});

test('forwards the response to initialize byte for byte', t => {
	const ends = start();
	initialize(ends);
	const text = `{"id":0 ,"jsonrpc":"2.0","result":${JSON.stringify(result)}}`;
	ends.upstream.sendText(text);
	t.deepEqual(ends.client.receivedTexts, [text]);
});

test("forwards the client's own initialized unchanged if no message is queued", t => {
	const ends = start();
	const {client, upstream, negotiation} = ends;
	initialize(ends);
	upstream.send({id: 0, result});
	t.deepEqual(receivedUpstream(ends), ['initialize 0']);
	t.false(negotiation.isReady);
	const text = '{"method":"notifications/initialized", "jsonrpc":"2.0"}';
	client.sendText(text);
	t.is(upstream.receivedTexts[1], text);
	t.true(negotiation.isPassThrough);
	client.send({id: 1, method: 'a'});
	t.deepEqual(receivedUpstream(ends).slice(2), ['a 1']);
});

test("drops the client's own initialized if bridge has sent one already", t => {
	const ends = start();
	const {client, upstream, negotiation} = ends;
	initialize(ends);
	client.send({id: 1, method: 'a'});
	upstream.send({id: 0, result});
	t.deepEqual(receivedUpstream(ends), ['initialize 0', initialized.method, 'a 1']);
	t.false(negotiation.isPassThrough);
	client.send(initialized);
	client.send({id: 2, method: 'b'});
	t.deepEqual(receivedUpstream(ends).slice(3), ['b 2']);
	t.true(negotiation.isPassThrough);
});

test('sends initialized for a client that omits it', t => {
	const ends = start();
	initialize(ends);
	ends.upstream.send({id: 0, result});
	ends.client.send({id: 1, method: 'a'});
	t.deepEqual(receivedUpstream(ends), ['initialize 0', initialized.method, 'a 1']);
});

test('delays an early initialized until the response to initialize', t => {
	const ends = start();
	initialize(ends);
	ends.client.send(initialized);
	ends.upstream.send({id: 0, result});
	t.deepEqual(receivedUpstream(ends), ['initialize 0', initialized.method]);
});

test('forwards messages of the upstream and responses to them at any time', t => {
	const ends = start();
	const {client, upstream} = ends;
	upstream.send({method: 'notifications/message'});
	upstream.send({id: 's', method: 'ping'});
	client.send({id: 's', result: {}});
	t.like(client.received, [{method: 'notifications/message'}, {id: 's', method: 'ping'}]);
	t.like(upstream.received, [{id: 's', result: {}}]);
});

test('responds to a ping itself before the handshake, and forwards it afterwards', t => {
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
	t.deepEqual(receivedUpstream(ends), ['initialize 0', initialized.method, 'ping 2']);
});

test('drops a queued request together with its cancellation', t => {
	const ends = start();
	const {client, upstream} = ends;
	for (const id of [1, 2, '1']) client.send({id, method: 'a'});
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	client.send({method: 'notifications/cancelled', params: {requestId: 'unknown'}});
	initialize(ends);
	upstream.send({id: 0, result});
	t.deepEqual(receivedUpstream(ends), ['initialize 0', initialized.method, 'a 2', 'a 1']);
	t.is(upstream.received.at(-1)?.id, '1');
	client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	t.like(upstream.received.at(-1), {method: 'notifications/cancelled', params: {requestId: 2}});
});

test('initializes the upstream for a client that never sends initialize', async t => {
	const ends = start(1);
	const {client, upstream, negotiation} = ends;
	client.send({id: 1, method: 'a'});
	const id = await ownInitialize(ends);
	t.regex(String(id), /^bridge-/);
	t.like(upstream.received[0], {
		method: 'initialize',
		params: {protocolVersion: VERSION, capabilities: {}, clientInfo: {name: 'bridge'}},
	});
	upstream.send({id, result});
	t.deepEqual(receivedUpstream(ends).slice(1), [initialized.method, 'a 1']);
	t.deepEqual(client.received, []);
	t.is(negotiation.clientVersion, VERSION);
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, result: {}}]);
});

test('waits for initialize while a client only sends notifications', async t => {
	const ends = start(1);
	ends.client.send({method: 'notifications/x'});
	const other = start(1);
	other.client.send({id: 1, method: 'a'});
	await ownInitialize(other);
	t.deepEqual(receivedUpstream(ends), []);
	initialize(ends);
	ends.upstream.send({id: 0, result});
	t.deepEqual(receivedUpstream(ends), ['initialize 0', initialized.method, 'notifications/x']);
});

test('does not send its own initialize if the client does within the grace time', async t => {
	const ends = start(50);
	ends.client.send({id: 1, method: 'a'});
	initialize(ends);
	// The grace time of the first pair has also passed when that of the second has.
	const other = start(50);
	other.client.send({id: 1, method: 'a'});
	await ownInitialize(other);
	t.deepEqual(receivedUpstream(ends), ['initialize 0']);
});

for (const version of [VERSION, '2024-11-05'] as const)
	test(`responds to initialize for ${version} from the result of its own initialize`, async t => {
		const ends = start(1);
		const {client, upstream, negotiation} = ends;
		client.send({id: 1, method: 'a'});
		const id = await ownInitialize(ends);
		initialize(ends, 'during the handshake', version);
		t.deepEqual(client.received, []);
		upstream.send({id, result});
		t.deepEqual(client.received, [
			{jsonrpc: '2.0', id: 'during the handshake', result: {...result, protocolVersion: version}},
		]);
		initialize(ends, 'later', version);
		t.deepEqual(client.received[1]?.result, {...result, protocolVersion: version});
		t.is(negotiation.clientVersion, version);
		t.deepEqual(negotiation.clientInfo, opening.clientInfo);
		client.send(initialized);
		t.deepEqual(receivedUpstream(ends).slice(1), [initialized.method, 'a 1']);
	});
