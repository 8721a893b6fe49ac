import test from 'ava';
import {rewriteVersionOneWay} from '../../lib/operators/rewrite-version-one-way.js';
import {converse} from '../helpers/pipeline.js';

const initialize =
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","x":1.0}}';
const response = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","n":9007199254740993}}';

test('is an empty stage without a version', t => {
	t.deepEqual(rewriteVersionOneWay({}), {});
});

test('sets the target version in initialize, and changes nothing else [GW-3]', t => {
	const {client, upstream} = converse(rewriteVersionOneWay({targetVersion: '2025-03-26'}));
	client.sendText(initialize);
	client.sendText(response);
	t.deepEqual(upstream.receivedTexts, [initialize.replace('2025-06-18', '2025-03-26'), response]);
});

test('sets the client version in the result of initialize, and changes nothing else [GW-4]', t => {
	const {client, upstream} = converse(rewriteVersionOneWay({clientVersion: '2025-03-26'}));
	client.sendText(initialize);
	client.sendText(response);
	t.deepEqual(upstream.receivedTexts, [initialize, response.replace('2024-11-05', '2025-03-26')]);
});

test('adds a version to an initialize without one', t => {
	const {client, upstream} = converse(rewriteVersionOneWay({targetVersion: '2025-03-26'}));
	client.send({id: 1, method: 'initialize'});
	t.like(upstream.received, [{params: {protocolVersion: '2025-03-26'}}]);
});

test('does not change other messages that contain a version', t => {
	const {client, upstream} = converse(
		rewriteVersionOneWay({clientVersion: '2025-03-26', targetVersion: '2025-03-26'}),
	);
	const texts = [
		'{"jsonrpc":"2.0","id":1, "result":{"protocolVersion":5}}',
		'{"jsonrpc":"2.0","id":1, "result":["protocolVersion"]}',
		'{"jsonrpc":"2.0","id":1, "result":{"a":{"protocolVersion":"2024-11-05"}}}',
		'{"jsonrpc":"2.0","id":1, "result":{"version":"2024-11-05"}}',
		'{"jsonrpc":"2.0","id":1, "error":{"code":1,"message":"","data":{"protocolVersion":"2024-11-05"}}}',
		'{"jsonrpc":"2.0","method":"x", "params":{"protocolVersion":"2024-11-05"}}',
	];
	for (const text of texts) client.sendText(text);
	t.deepEqual(upstream.receivedTexts, texts);
});
