import test from 'ava';
import {rewriteVersionOneWay} from '../../lib/operators/rewrite-version-one-way.js';
import {converse} from '../helpers/pipeline.js';

const initialize =
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","x":1.0}}';
const answer = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","n":9007199254740993}}';

test('without a version there is nothing to do', t => {
	t.deepEqual(rewriteVersionOneWay({}), {});
});

test('the target version is asked for in initialize, and nothing else changes', t => {
	const {client, upstream} = converse(rewriteVersionOneWay({targetVersion: '2025-03-26'}));
	client.sendText(initialize);
	client.sendText(answer);
	t.deepEqual(upstream.receivedTexts, [initialize.replace('2025-06-18', '2025-03-26'), answer]);
});

test('the client version is told in what answers initialize, and nothing else changes', t => {
	const {client, upstream} = converse(rewriteVersionOneWay({clientVersion: '2025-03-26'}));
	client.sendText(initialize);
	client.sendText(answer);
	t.deepEqual(upstream.receivedTexts, [initialize, answer.replace('2024-11-05', '2025-03-26')]);
});

test('an initialize without a version gets one', t => {
	const {client, upstream} = converse(rewriteVersionOneWay({targetVersion: '2025-03-26'}));
	client.send({id: 1, method: 'initialize'});
	t.like(upstream.received, [{params: {protocolVersion: '2025-03-26'}}]);
});

test('what only mentions a version stays as it is', t => {
	const {client, upstream} = converse(
		rewriteVersionOneWay({clientVersion: '2025-03-26', targetVersion: '2025-03-26'}),
	);
	const others = [
		'{"jsonrpc":"2.0","id":1, "result":{"protocolVersion":5}}',
		'{"jsonrpc":"2.0","id":1, "result":["protocolVersion"]}',
		'{"jsonrpc":"2.0","id":1, "result":{"a":{"protocolVersion":"2024-11-05"}}}',
		'{"jsonrpc":"2.0","id":1, "result":{"version":"2024-11-05"}}',
		'{"jsonrpc":"2.0","id":1, "error":{"code":1,"message":"","data":{"protocolVersion":"2024-11-05"}}}',
		'{"jsonrpc":"2.0","method":"x", "params":{"protocolVersion":"2024-11-05"}}',
	];
	for (const text of others) client.sendText(text);
	t.deepEqual(upstream.receivedTexts, others);
});
