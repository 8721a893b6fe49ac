import {isModern} from './eras.js';
import {direct, errorCode, type Pair, textOf} from './pair.js';

/* Notifications during a call: progress, log messages, cancellation. */

export async function checkProgress({t, client}: Pair): Promise<void> {
	// The callback only requests progress. SDK releases drop progress that they read together with the
	// response, so its calls vary.
	const onprogress = () => undefined;
	const result = await client.callTool('test_tool_with_progress', {}, {onprogress});
	t.is(textOf(result), 'Tool with progress executed successfully');
	const params = client.received('notifications/progress').map(message => message.params ?? {});
	t.deepEqual(
		params.map(({progress, total}) => [progress, total]),
		[
			[0, 100],
			[50, 100],
			[100, 100],
		],
	);
	t.is(new Set(params.map(({progressToken}) => progressToken)).size, 1);
}

export async function checkLogging({t, client}: Pair): Promise<void> {
	if (isModern(client.version)) {
		// A client that sets no level gets no log messages.
		await client.callTool('test_tool_with_logging');
		t.deepEqual(client.received('notifications/message'), []);
	}

	await client.setLevel('info');
	await client.callTool('test_tool_with_logging');
	const messages = () => client.received('notifications/message').map(({params}) => params?.data);
	const expected = ['started', 'processing', 'completed'].map(what => `Tool execution ${what}`);
	t.deepEqual(messages(), expected);
	await client.setLevel('error');
	await client.callTool('test_tool_with_logging');
	// Messages are ordered: the call's notifications arrive before its response.
	t.deepEqual(messages(), expected);
}

export async function checkCancellation({t, client}: Pair): Promise<void> {
	const cancelling = new AbortController();
	// The first progress shows that the server has started the call.
	const onprogress = () => cancelling.abort('changed my mind');
	const call = client.callTool('bridge_slow', {ms: 600_000}, {signal: cancelling.signal, onprogress});
	// Each SDK has its own error code for a cancellation. The call must not return a result.
	await t.throwsAsync(call, {any: true});
	// SDK 1.0.1 cancels with a wrong method name, which bridge corrects.
	if (direct && client.version === '2024-11-05') return;
	// The server responds only after it has stopped the other call.
	t.is(textOf(await client.callTool('bridge_cancelled')), 'cancelled: 1');
	t.is(await errorCode(client.callTool('no_such_tool')), -32602);
}

export async function checkChanges({t, client}: Pair): Promise<void> {
	const [tools, resource] = ['notifications/tools/list_changed', 'notifications/resources/updated'];
	await client.subscribe('test://static-text');
	t.is(textOf(await client.callTool('bridge_change')), 'changed');
	// The notifications may arrive after the response.
	await Promise.all([tools, resource].map(method => client.seen(method)));
	t.deepEqual(
		client.received(resource).map(({params}) => params?.uri),
		['test://static-text'],
	);
	t.is(client.received(tools).length, 1);
}
