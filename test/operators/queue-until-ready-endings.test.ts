import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {opening} from '../helpers/bridge.js';
import {until} from '../helpers/pipeline.js';
import {
	initialize,
	initialized,
	ownInitialize,
	receivedUpstream,
	result,
	start,
} from './queue-until-ready-support.js';

test('delays the end of the client until its queued messages are sent', t => {
	const ends = start();
	const {client, upstream, hasEnded} = ends;
	client.send({id: 1, method: 'a'});
	client.end();
	const [request] = upstream.received;
	t.is(request?.method, 'initialize');
	t.false(hasEnded());
	upstream.send({id: request?.id, result});
	t.deepEqual(receivedUpstream(ends).slice(1), [initialized.method, 'a 1']);
	t.true(hasEnded());
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, result: {}}]);
});

test('delays the end of the client while its own initialize is pending', t => {
	const ends = start();
	initialize(ends);
	ends.client.send({method: 'notifications/x'});
	ends.client.end();
	t.false(ends.hasEnded());
	ends.upstream.send({id: 0, result});
	t.deepEqual(receivedUpstream(ends), ['initialize 0', initialized.method, 'notifications/x']);
	t.true(ends.hasEnded());
});

test('delays the end of the client until the response to its initialize, without queued messages', t => {
	const ends = start();
	initialize(ends);
	ends.client.end();
	t.false(ends.hasEnded());
	ends.upstream.send({id: 0, result});
	t.like(ends.client.received, [{id: 0, result}]);
	t.true(ends.hasEnded());
});

test('forwards the end of a client immediately if no message is pending', t => {
	const ends = start();
	ends.client.end();
	t.true(ends.hasEnded());
});

test('fails queued requests once when the upstream exits, and sends none of them', async t => {
	const ends = start(1);
	const {client, upstream} = ends;
	for (const id of [1, 2]) client.send({id, method: 'a'});
	await ownInitialize(ends);
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.'));
	client.send({id: 3, method: 'a'});
	t.like(
		client.received,
		[1, 2, 3].map(id => ({id, error: {code: -31_004}})),
	);
	t.is(client.received.length, 3);
	t.is(upstream.received.length, 1);
});

test('fails queued requests when the initialize of the client fails, and allows another attempt', async t => {
	const ends = start();
	const {client, upstream, entries} = ends;
	client.send({id: 1, method: 'a'});
	initialize(ends);
	client.send({method: 'notifications/x'});
	client.send({id: 2, method: 'b'});
	upstream.send({id: 0, error: {code: 5, message: 'no licence'}});
	t.is(client.received.length, 3);
	for (const id of [1, 2]) {
		const response = client.received.find(message => message.id === id);
		t.like(response, {error: {code: -31_001, data: {source: 'bridge'}}});
		t.regex(JSON.stringify(response), /files rejected initialize: no licence\. Correct/);
	}
	t.like(
		client.received.find(({id}) => id === 0),
		{error: {code: 5, message: 'no licence'}},
	);
	t.like(await entries(), [{event: 'proxy.handshake.failed'}]);
	initialize(ends, 'again');
	upstream.send({id: 'again', result});
	client.send(initialized);
	client.send({id: 3, method: 'c'});
	t.deepEqual(receivedUpstream(ends), ['initialize 0', 'initialize again', initialized.method, 'c 3']);
	t.like(client.received[3], {id: 'again', result});
});

test('fails queued requests when its own initialize fails, and retries with the next request', async t => {
	const ends = start(1);
	const {client, upstream} = ends;
	client.send({id: 1, method: 'a'});
	upstream.send({id: await ownInitialize(ends), error: {code: 5, message: 'no'}});
	t.like(client.received, [{id: 1, error: {code: -31_001}}]);
	client.send({id: 2, method: 'b'});
	await until(() => upstream.received.length > 1);
	const again = upstream.received[1];
	t.is(again?.method, 'initialize');
	t.not(again?.id, upstream.received[0]?.id);
	upstream.send({id: again?.id, result});
	t.deepEqual(receivedUpstream(ends).slice(2), [initialized.method, 'b 2']);
	t.is(client.received.length, 1);
});

test('rejects an initialize without a version, and does not forward it', t => {
	for (const params of [undefined, {}, {...opening, protocolVersion: 7}]) {
		const ends = start();
		const {client, upstream} = ends;
		client.send(params ? {id: 1, method: 'initialize', params} : {id: 1, method: 'initialize'});
		t.like(client.received, [{id: 1, error: {code: -32_602}}]);
		t.deepEqual(upstream.received, []);
		initialize(ends, 2);
		upstream.send({id: 2, result});
		t.like(client.received[1], {id: 2, result});
	}
});

test('closes the valve of the client at a thousand queued messages until they are sent', t => {
	const ends = start();
	const {client, upstream} = ends;
	const {valve} = client.origin;
	initialize(ends);
	for (let id = 1; id < 1000; id++) client.send({id, method: 'a'});
	t.true(valve.isOpen);
	client.send({id: 1000, method: 'a'});
	t.false(valve.isOpen);
	// Messages that were read already are queued, too.
	client.send({id: 1001, method: 'a'});
	t.true(upstream.origin.valve.isOpen);
	upstream.send({id: 0, result});
	t.true(valve.isOpen);
	t.deepEqual(
		upstream.received.slice(2).map(({id}) => id),
		Array.from({length: 1001}, (_, index) => index + 1),
	);
});

test('closes the valve of the client at 8 MiB of queued messages until they are sent', t => {
	const ends = start();
	const {client, upstream} = ends;
	const {valve} = client.origin;
	initialize(ends);
	const text = 'x'.repeat(2 ** 20 - 60);
	for (let id = 1; id <= 8; id++) client.send({id, method: 'a', params: {text}});
	t.true(valve.isOpen);
	client.send({id: 9, method: 'a', params: {text}});
	t.false(valve.isOpen);
	upstream.send({id: 0, result});
	t.true(valve.isOpen);
	t.is(upstream.received.length, 11);
});

test('reopens the valve when enough queued messages are cancelled', t => {
	const ends = start();
	const {client, upstream} = ends;
	for (let id = 1; id <= 1000; id++) client.send({id, method: 'a'});
	t.false(client.origin.valve.isOpen);
	client.send({method: 'notifications/cancelled', params: {requestId: 500}});
	t.true(client.origin.valve.isOpen);
	client.send({id: 1001, method: 'a'});
	t.false(client.origin.valve.isOpen);
	initialize(ends);
	upstream.send({id: 0, result});
	t.true(client.origin.valve.isOpen);
	t.is(upstream.received.length, 1002);
});

for (const [event, end] of [
	['the upstream exits', new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.')],
	['the upstream ends', undefined],
] as const)
	test(`reopens the valve when ${event}`, t => {
		const {client, upstream} = start();
		for (let id = 1; id <= 1000; id++) client.send({id, method: 'a'});
		t.false(client.origin.valve.isOpen);
		upstream.end(end);
		t.true(client.origin.valve.isOpen);
		t.is(client.received.length, 1000);
		t.true(client.received.every(({error}) => error !== undefined));
		t.deepEqual(upstream.received, []);
	});

test('reopens the valve when the handshake fails', t => {
	const ends = start();
	const {client, upstream} = ends;
	initialize(ends);
	for (let id = 1; id <= 1000; id++) client.send({id, method: 'a'});
	upstream.send({id: 0, error: {code: 5, message: 'no'}});
	t.true(client.origin.valve.isOpen);
	t.is(client.received.length, 1001);
});

test('clears its timer when the conversation ends', async t => {
	const ends = start(5);
	ends.client.send({id: 1, method: 'a'});
	ends.link.unsubscribe();
	const other = start(5);
	other.client.send({id: 1, method: 'a'});
	await ownInitialize(other);
	t.deepEqual(ends.upstream.received, []);
});

test('does not block a client forever that fills the queue with notifications', async t => {
	const ends = start(1);
	for (let count = 0; count < 1000; count++) ends.client.send({method: 'notifications/x'});
	const other = start(1);
	other.client.send({id: 1, method: 'a'});
	await ownInitialize(other);
	// With a closed valve, its initialize would never be read.
	t.true(ends.client.origin.valve.isOpen || ends.upstream.received.length > 0);
});
