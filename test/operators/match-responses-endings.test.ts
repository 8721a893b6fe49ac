import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import {matchResponses} from '../../lib/operators/match-responses.js';
import {converse, readableLog} from '../helpers/pipeline.js';

const start = () => {
	const {log, entries} = readableLog();
	return {...converse(matchResponses({log, upstream: 'files'})), entries};
};

const exited = new BridgeError('ERR_CHILD_EXITED', 'files exited with code 3.', 'Start it again.', {
	exitCode: 3,
	signal: null,
});
const cancel = (requestId: unknown) => ({method: 'notifications/cancelled', params: {requestId}});

test('fails all pending requests with the reason when the upstream disconnects', t => {
	const {client, upstream} = start();
	client.send({id: 1, method: 'a'});
	client.send({id: 'x', method: 'b'});
	upstream.end(exited);
	t.deepEqual(
		client.received.map(({id}) => id),
		[1, 'x'],
	);
	for (const response of client.received)
		t.like(response, {
			error: {
				code: -31_004,
				message: 'files exited with code 3. Start it again.',
				data: {source: 'bridge', kind: 'child_exited', exitCode: 3, signal: null},
			},
		});
});

test('fails later requests with the same reason', t => {
	const {client, upstream} = start();
	upstream.end(exited);
	client.send({id: 7, method: 'a'});
	client.send({id: 7, method: 'a'});
	t.like(client.received, [
		{id: 7, error: {code: -31_004}},
		{id: 7, error: {code: -31_004}},
	]);
	t.deepEqual(upstream.received, []);
});

test('fails pending requests with closed when the upstream ends without an error', t => {
	const {client, upstream} = start();
	client.send({id: 1, method: 'a'});
	upstream.end();
	t.like(client.received, [{id: 1, error: {code: -31_005, data: {kind: 'closed'}}}]);
});

test('drops notifications and responses after the upstream has disconnected', t => {
	const {client, upstream} = start();
	upstream.end(exited);
	client.send({method: 'notifications/initialized'});
	client.send({id: 1, result: {}});
	t.deepEqual(upstream.received, []);
	t.deepEqual(client.received, []);
});

test('fails a renamed request with its original id when the upstream disconnects', t => {
	const {client, upstream} = start();
	client.sendText('{"jsonrpc":"2.0","id":1,"method":"a"}');
	client.sendText('{"jsonrpc":"2.0","id":1.0,"method":"a"}');
	upstream.end(exited);
	t.true(client.receivedTexts[1]?.includes('"id":1.0,'));
});

test('does not respond to a cancelled request when the upstream disconnects', t => {
	const {client, upstream} = start();
	client.send({id: 1, method: 'a'});
	client.send({id: 2, method: 'a'});
	client.send(cancel(1));
	upstream.end(exited);
	t.deepEqual(
		client.received.map(({id}) => id),
		[2],
	);
});

test('accepts the id of a cancelled request again', t => {
	const {client, upstream} = start();
	client.send({id: 1, method: 'a'});
	client.send(cancel(1));
	client.send({id: 1, method: 'b'});
	t.deepEqual(client.received, []);
	t.deepEqual(
		upstream.received.map(({method}) => method),
		['a', 'notifications/cancelled', 'b'],
	);
});

test('accepts the id of a renamed and cancelled request again', t => {
	const {client, upstream} = start();
	client.sendText('{"jsonrpc":"2.0","id":1,"method":"a"}');
	client.sendText('{"jsonrpc":"2.0","id":1.0,"method":"b"}');
	client.sendText('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0}}');
	client.sendText('{"jsonrpc":"2.0","id":1.0,"method":"c"}');
	t.deepEqual(client.received, []);
	t.is(upstream.received.length, 4);
});

test('forwards a late response to a cancelled request', async t => {
	const {client, upstream, entries} = start();
	client.send({id: 1, method: 'a'});
	client.send(cancel(1));
	upstream.send({id: 1, result: {}});
	t.like(client.received, [{id: 1, result: {}}]);
	t.deepEqual(await entries(), []);
});

test('forwards a cancellation of an unknown request', t => {
	const {client, upstream} = start();
	client.send(cancel(99));
	client.send({method: 'notifications/cancelled'});
	client.send({method: 'notifications/cancelled', params: null});
	t.is(upstream.received.length, 3);
});

test('rejects requests over the limit until others are completed or cancelled', t => {
	const {client, upstream} = start();
	const limit = 65_536;
	for (let id = 0; id < limit; id++) client.send({id, method: 'a'});
	client.send({id: limit, method: 'a'});
	t.is(upstream.received.length, limit);
	t.like(client.received, [{id: limit, error: {code: -31_003, data: {kind: 'overloaded', limit}}}]);
	upstream.send({id: 5, result: {}});
	client.send({id: limit + 1, method: 'a'});
	client.send(cancel(6));
	client.send({id: limit + 2, method: 'a'});
	t.deepEqual(upstream.received.at(-1), {jsonrpc: '2.0', id: limit + 2, method: 'a'});
	t.is(client.received.length, 2);
});
