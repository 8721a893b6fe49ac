import test from 'ava';
import {messageIn} from '../../helpers/gateway.js';
import {plain, shareGateway} from './shared-gateway.js';

const use = shareGateway(plain('older', 'tasks'));
const OLD = '2025-06-18';
const call = {name: 'echo', arguments: {a: 1}, task: {ttl: 60_000}};

test('edge case 3: retries calls with the new version after a session is re-initialized', async t => {
	const {gateway, upstream, service} = use('older');
	const session = await gateway.open(service);
	await session.request(1, 'tools/call', call);
	const [first] = upstream.asked('tools/call');
	t.deepEqual(first?.message.params, call);
	t.is(first?.headers['mcp-protocol-version'], '2025-11-25');
	upstream.version = OLD;
	upstream.lose();
	const replies = await Promise.all([2, 3, 4].map(id => session.request(id, 'tools/call', call)));
	t.deepEqual(
		replies.map(({id}) => id),
		[2, 3, 4],
	);
	const retried = upstream.asked('tools/call').filter(({headers}) => headers['mcp-protocol-version'] === OLD);
	t.is(retried.length, 3, 'each call is retried once');
	const {task: _task, ...translated} = call;
	for (const {message} of retried) t.deepEqual(message.params, translated, 'the older version has no tasks');
	const completions = upstream.asked('notifications/initialized');
	t.deepEqual(
		completions.map(({headers}) => headers['mcp-protocol-version']),
		['2025-11-25', OLD],
	);
	t.is(upstream.executions, 4);
});

test('edge case 3: returns an error for a method that the new version does not have, without a retry', async t => {
	const {gateway, upstream, service} = use('tasks');
	const session = await gateway.open(service);
	upstream.version = OLD;
	upstream.lose();
	const {length} = upstream.asked('tasks/list');
	t.like(messageIn(await session.post({id: 1, method: 'tasks/list', params: {}})), {
		id: 1,
		error: {code: -32601},
	});
	t.is(upstream.asked('tasks/list').length, length + 1, 'only the first attempt was sent');
	t.like(await session.request(2, 'tools/call', {name: 'echo'}), {
		id: 2,
		result: {content: [{type: 'text'}]},
	});
});
