import test from 'ava';
import {BridgeError} from '../../lib/errors.js';
import {opening} from '../helpers/bridge.js';
import {heard, initialize, initialized, ownHandshake, result, start} from './gate.js';
import {until} from './support.js';

test('the end of the client while something waits is passed on behind it', t => {
	const ends = start();
	const {client, upstream, isOver} = ends;
	client.say({id: 1, method: 'a'});
	client.end();
	const [asked] = upstream.heard;
	t.is(asked?.method, 'initialize');
	t.false(isOver());
	upstream.say({id: asked?.id, result});
	t.deepEqual(heard(ends).slice(1), [initialized.method, 'a 1']);
	t.true(isOver());
	upstream.say({id: 1, result: {}});
	t.like(client.heard, [{id: 1, result: {}}]);
});

test('the end of the client while its own initialize is asked waits for that', t => {
	const ends = start();
	initialize(ends);
	ends.client.say({method: 'notifications/x'});
	ends.client.end();
	t.false(ends.isOver());
	ends.upstream.say({id: 0, result});
	t.deepEqual(heard(ends), ['initialize 0', initialized.method, 'notifications/x']);
	t.true(ends.isOver());
});

test('the end of a client waits for the answer to its initialize, as it may take more than one question', t => {
	const ends = start();
	initialize(ends);
	ends.client.end();
	t.false(ends.isOver());
	ends.upstream.say({id: 0, result});
	t.like(ends.client.heard, [{id: 0, result}]);
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
	for (const id of [1, 2]) client.say({id, method: 'a'});
	await ownHandshake(ends);
	upstream.end(new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.'));
	client.say({id: 3, method: 'a'});
	t.like(
		client.heard,
		[1, 2, 3].map(id => ({id, error: {code: -31_004}})),
	);
	t.is(client.heard.length, 3);
	t.is(upstream.heard.length, 1);
});

test('when the initialize of the client fails, what waits is answered, and it may try again', async t => {
	const ends = start();
	const {client, upstream, entries} = ends;
	client.say({id: 1, method: 'a'});
	initialize(ends);
	client.say({method: 'notifications/x'});
	client.say({id: 2, method: 'b'});
	upstream.say({id: 0, error: {code: 5, message: 'no licence'}});
	t.is(client.heard.length, 3);
	for (const id of [1, 2]) {
		const answer = client.heard.find(message => message.id === id);
		t.like(answer, {error: {code: -31_001, data: {source: 'bridge'}}});
		t.regex(JSON.stringify(answer), /files rejected initialize: no licence\. Correct/);
	}
	t.like(
		client.heard.find(({id}) => id === 0),
		{error: {code: 5, message: 'no licence'}},
	);
	t.like(await entries(), [{event: 'proxy.handshake.failed'}]);
	initialize(ends, 'again');
	upstream.say({id: 'again', result});
	client.say(initialized);
	client.say({id: 3, method: 'c'});
	t.deepEqual(heard(ends), ['initialize 0', 'initialize again', initialized.method, 'c 3']);
	t.like(client.heard[3], {id: 'again', result});
});

test("when bridge's own initialize fails, what waits is answered, and the next request starts another", async t => {
	const ends = start(1);
	const {client, upstream} = ends;
	client.say({id: 1, method: 'a'});
	upstream.say({id: await ownHandshake(ends), error: {code: 5, message: 'no'}});
	t.like(client.heard, [{id: 1, error: {code: -31_001}}]);
	client.say({id: 2, method: 'b'});
	await until(() => upstream.heard.length > 1);
	const again = upstream.heard[1];
	t.is(again?.method, 'initialize');
	t.not(again?.id, upstream.heard[0]?.id);
	upstream.say({id: again?.id, result});
	t.deepEqual(heard(ends).slice(2), [initialized.method, 'b 2']);
	t.is(client.heard.length, 1);
});

test('an initialize without a version is refused by bridge, and does not reach the server', t => {
	for (const params of [undefined, {}, {...opening, protocolVersion: 7}]) {
		const ends = start();
		const {client, upstream} = ends;
		client.say(params ? {id: 1, method: 'initialize', params} : {id: 1, method: 'initialize'});
		t.like(client.heard, [{id: 1, error: {code: -32_602}}]);
		t.deepEqual(upstream.heard, []);
		initialize(ends, 2);
		upstream.say({id: 2, result});
		t.like(client.heard[1], {id: 2, result});
	}
});

test('a thousand messages that wait shut the valve of the client, until they are sent', t => {
	const ends = start();
	const {client, upstream} = ends;
	const {valve} = client.origin;
	initialize(ends);
	for (let id = 1; id < 1000; id++) client.say({id, method: 'a'});
	t.true(valve.isOpen);
	client.say({id: 1000, method: 'a'});
	t.false(valve.isOpen);
	// What had been read by then is kept, too.
	client.say({id: 1001, method: 'a'});
	t.true(upstream.origin.valve.isOpen);
	upstream.say({id: 0, result});
	t.true(valve.isOpen);
	t.deepEqual(
		upstream.heard.slice(2).map(({id}) => id),
		Array.from({length: 1001}, (_, index) => index + 1),
	);
});

test('8 MiB that wait shut the valve of the client, until they are sent', t => {
	const ends = start();
	const {client, upstream} = ends;
	const {valve} = client.origin;
	initialize(ends);
	const text = 'x'.repeat(2 ** 20 - 60);
	for (let id = 1; id <= 8; id++) client.say({id, method: 'a', params: {text}});
	t.true(valve.isOpen);
	client.say({id: 9, method: 'a', params: {text}});
	t.false(valve.isOpen);
	upstream.say({id: 0, result});
	t.true(valve.isOpen);
	t.is(upstream.heard.length, 11);
});

test('the valve opens again when enough of what waits is cancelled', t => {
	const ends = start();
	const {client, upstream} = ends;
	for (let id = 1; id <= 1000; id++) client.say({id, method: 'a'});
	t.false(client.origin.valve.isOpen);
	client.say({method: 'notifications/cancelled', params: {requestId: 500}});
	t.true(client.origin.valve.isOpen);
	client.say({id: 1001, method: 'a'});
	t.false(client.origin.valve.isOpen);
	initialize(ends);
	upstream.say({id: 0, result});
	t.true(client.origin.valve.isOpen);
	t.is(upstream.heard.length, 1002);
});

for (const [what, end] of [
	['the server dies', new BridgeError('ERR_CHILD_EXITED', 'files exited.', 'Start it again.')],
	['the server ends', undefined],
] as const)
	test(`the valve opens again when ${what}`, t => {
		const {client, upstream} = start();
		for (let id = 1; id <= 1000; id++) client.say({id, method: 'a'});
		t.false(client.origin.valve.isOpen);
		upstream.end(end);
		t.true(client.origin.valve.isOpen);
		t.is(client.heard.length, 1000);
		t.true(client.heard.every(({error}) => error !== undefined));
		t.deepEqual(upstream.heard, []);
	});

test('the valve opens again when the handshake fails', t => {
	const ends = start();
	const {client, upstream} = ends;
	initialize(ends);
	for (let id = 1; id <= 1000; id++) client.say({id, method: 'a'});
	upstream.say({id: 0, error: {code: 5, message: 'no'}});
	t.true(client.origin.valve.isOpen);
	t.is(client.heard.length, 1001);
});

test('no timer is left when the conversation is over', async t => {
	const ends = start(5);
	ends.client.say({id: 1, method: 'a'});
	ends.link.unsubscribe();
	const other = start(5);
	other.client.say({id: 1, method: 'a'});
	await ownHandshake(other);
	t.deepEqual(ends.upstream.heard, []);
});

test('a client that fills the queue with notifications is not shut out for good', async t => {
	const ends = start(1);
	for (let count = 0; count < 1000; count++) ends.client.say({method: 'notifications/x'});
	const other = start(1);
	other.client.say({id: 1, method: 'a'});
	await ownHandshake(other);
	// Its initialize would not be read any more.
	t.true(ends.client.origin.valve.isOpen || ends.upstream.heard.length > 0);
});
