import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {opening} from '../helpers/bridge.js';
import {until} from '../helpers/pipeline.js';
import {heard, initialize, initialized, ownHandshake, result, start} from './queue-until-ready-support.js';

test('the end of the client while something waits is passed on behind it', t => {
	const ends = start();
	const {client, upstream, isOver} = ends;
	client.send({id: 1, method: 'a'});
	client.end();
	const [asked] = upstream.received;
	t.is(asked?.method, 'initialize');
	t.false(isOver());
	upstream.send({id: asked?.id, result});
	t.deepEqual(heard(ends).slice(1), [initialized.method, 'a 1']);
	t.true(isOver());
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, result: {}}]);
});

test('the end of the client while its own initialize is asked waits for that', t => {
	const ends = start();
	initialize(ends);
	ends.client.send({method: 'notifications/x'});
	ends.client.end();
	t.false(ends.isOver());
	ends.upstream.send({id: 0, result});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method, 'notifications/x']);
	t.true(ends.isOver());
});

test('the end of a client waits for the answer to its initialize, as it may take more than one question', t => {
	const ends = start();
	initialize(ends);
	ends.client.end();
	t.false(ends.isOver());
	ends.upstream.send({id: 0, result});
	t.like(ends.client.received, [{id: 0, result}]);
	t.true(ends.isOver());
});

test('the end of a client for which nothing waits is passed on at once', t => {
	const ends = start();
	ends.client.end();
	t.true(ends.isOver());
});

test('when the server dies, what waits is answered with that, once, and nothing is sent', async t => {
	const ends = start(1);
	const {client, upstream} = ends;
	for (const id of [1, 2]) client.send({id, method: 'a'});
	await ownHandshake(ends);
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.'));
	client.send({id: 3, method: 'a'});
	t.like(
		client.received,
		[1, 2, 3].map(id => ({id, error: {code: -31_004}})),
	);
	t.is(client.received.length, 3);
	t.is(upstream.received.length, 1);
});

test('when the initialize of the client fails, what waits is answered, and it may try again', async t => {
	const ends = start();
	const {client, upstream, entries} = ends;
	client.send({id: 1, method: 'a'});
	initialize(ends);
	client.send({method: 'notifications/x'});
	client.send({id: 2, method: 'b'});
	upstream.send({id: 0, error: {code: 5, message: 'no licence'}});
	t.is(client.received.length, 3);
	for (const id of [1, 2]) {
		const answer = client.received.find(message => message.id === id);
		t.like(answer, {error: {code: -31_001, data: {source: 'bridge'}}});
		t.regex(JSON.stringify(answer), /files rejected initialize: no licence\. Correct/);
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
	t.deepEqual(heard(ends), ['initialize 0', 'initialize again', initialized.method, 'c 3']);
	t.like(client.received[3], {id: 'again', result});
});

test("when bridge's own initialize fails, what waits is answered, and the next request starts another", async t => {
	const ends = start(1);
	const {client, upstream} = ends;
	client.send({id: 1, method: 'a'});
	upstream.send({id: await ownHandshake(ends), error: {code: 5, message: 'no'}});
	t.like(client.received, [{id: 1, error: {code: -31_001}}]);
	client.send({id: 2, method: 'b'});
	await until(() => upstream.received.length > 1);
	const again = upstream.received[1];
	t.is(again?.method, 'initialize');
	t.not(again?.id, upstream.received[0]?.id);
	upstream.send({id: again?.id, result});
	t.deepEqual(heard(ends).slice(2), [initialized.method, 'b 2']);
	t.is(client.received.length, 1);
});

test('an initialize without a version is refused by bridge, and does not reach the server', t => {
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

test('a thousand messages that wait shut the valve of the client, until they are sent', t => {
	const ends = start();
	const {client, upstream} = ends;
	const {valve} = client.origin;
	initialize(ends);
	for (let id = 1; id < 1000; id++) client.send({id, method: 'a'});
	t.true(valve.isOpen);
	client.send({id: 1000, method: 'a'});
	t.false(valve.isOpen);
	// What had been read by then is kept, too.
	client.send({id: 1001, method: 'a'});
	t.true(upstream.origin.valve.isOpen);
	upstream.send({id: 0, result});
	t.true(valve.isOpen);
	t.deepEqual(
		upstream.received.slice(2).map(({id}) => id),
		Array.from({length: 1001}, (_, index) => index + 1),
	);
});

test('8 MiB that wait shut the valve of the client, until they are sent', t => {
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

test('the valve opens again when enough of what waits is cancelled', t => {
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

for (const [what, end] of [
	['the server dies', new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.')],
	['the server ends', undefined],
] as const)
	test(`the valve opens again when ${what}`, t => {
		const {client, upstream} = start();
		for (let id = 1; id <= 1000; id++) client.send({id, method: 'a'});
		t.false(client.origin.valve.isOpen);
		upstream.end(end);
		t.true(client.origin.valve.isOpen);
		t.is(client.received.length, 1000);
		t.true(client.received.every(({error}) => error !== undefined));
		t.deepEqual(upstream.received, []);
	});

test('the valve opens again when the handshake fails', t => {
	const ends = start();
	const {client, upstream} = ends;
	initialize(ends);
	for (let id = 1; id <= 1000; id++) client.send({id, method: 'a'});
	upstream.send({id: 0, error: {code: 5, message: 'no'}});
	t.true(client.origin.valve.isOpen);
	t.is(client.received.length, 1001);
});

test('no timer is left when the conversation is over', async t => {
	const ends = start(5);
	ends.client.send({id: 1, method: 'a'});
	ends.link.unsubscribe();
	const other = start(5);
	other.client.send({id: 1, method: 'a'});
	await ownHandshake(other);
	t.deepEqual(ends.upstream.received, []);
});

test('a client that fills the queue with notifications is not shut out for good', async t => {
	const ends = start(1);
	for (let count = 0; count < 1000; count++) ends.client.send({method: 'notifications/x'});
	const other = start(1);
	other.client.send({id: 1, method: 'a'});
	await ownHandshake(other);
	// Its initialize would not be read any more.
	t.true(ends.client.origin.valve.isOpen || ends.upstream.received.length > 0);
});
