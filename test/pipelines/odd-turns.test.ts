import test from 'ava';
import {until} from '../helpers/pipeline.js';
import {envelope, lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';

type Json = {readonly [key: string]: unknown};

const discover = {id: 'd', method: 'server/discover', params: {_meta: envelope()}};
const versionError = {code: -32022, message: 'no', data: {supported: ['2026-07-28']}};
const discoverResult = {
	resultType: 'complete',
	supportedVersions: ['2026-07-28'],
	capabilities: {tools: {}},
	_meta: {'io.modelcontextprotocol/serverInfo': {name: 'm', version: '1'}},
};

/** A stateless server rejects `initialize` and responds to `server/discover`. */
function respondAsStateless({upstream}: ReturnType<typeof wrapped>): void {
	upstream.send({id: lastOf(upstream).id, error: versionError});
	upstream.send({id: lastOf(upstream).id, result: discoverResult});
}

test('keeps the notation of numbers in generated texts', t => {
	const {ready, client, upstream} = wrapped();
	ready('2025-03-26', '2025-06-18');
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	upstream.sendText(
		'{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":9007199254740993,"t":20.0}}}',
	);
	t.is(
		client.receivedTexts.at(-1),
		'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\\"n\\":9007199254740993,\\"t\\":20.0}"}],"structuredContent":{"n":9007199254740993,"t":20.0}}}',
	);
	client.send({id: 2, method: 'tools/call', params: {name: 'x'}});
	upstream.sendText(
		'{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"resource_link","uri":"a:b","name":"n","size":120.0}]}}',
	);
	t.regex(client.receivedTexts.at(-1) ?? '', /"\[n\]\(a:b\) 120\.0 bytes"/);
});

test('serves a client that switches to a handshake while a stateless server starts', t => {
	const ends = wrapped();
	ends.client.send(discover);
	ends.initialize('2025-06-18');
	respondAsStateless(ends);
	ends.initialized();
	t.like(
		ends.client.received.find(message => message.id === 'i'),
		{result: {protocolVersion: '2025-06-18', serverInfo: {name: 'm'}}},
	);
	ends.client.send({id: 1, method: 'tools/list'});
	t.like(lastOf(ends.upstream), {method: 'tools/list', params: {_meta: envelope()}});
});

test('responds to initialize itself after a stateless start, and translates later requests', t => {
	const ends = wrapped();
	ends.client.send(discover);
	respondAsStateless(ends);
	ends.upstream.send({id: 'd', result: discoverResult});
	ends.initialize('2025-11-25');
	t.like(lastOf(ends.client), {id: 'i', result: {protocolVersion: '2025-11-25'}});
	ends.client.send({id: 1, method: 'tools/list'});
	t.like(lastOf(ends.upstream), {method: 'tools/list', params: {_meta: envelope()}});
});

test('subscribes to the changes of a stateless server for a client that switches to a handshake', t => {
	const ends = wrapped();
	ends.client.send(discover);
	ends.upstream.send({id: lastOf(ends.upstream).id, error: versionError});
	const capabilities = {tools: {listChanged: true}};
	ends.upstream.send({id: lastOf(ends.upstream).id, result: {...discoverResult, capabilities}});
	ends.upstream.send({id: 'd', result: discoverResult});
	ends.initialize('2025-11-25');
	t.false(ends.receivedMethods().includes('subscriptions/listen'));
	ends.initialized();
	t.like(lastOf(ends.upstream), {
		method: 'subscriptions/listen',
		params: {notifications: {toolsListChanged: true}},
	});
	ends.initialized();
	t.is(ends.receivedMethods().filter(method => method === 'subscriptions/listen').length, 1);
	const _meta = {'io.modelcontextprotocol/subscriptionId': lastOf(ends.upstream).id};
	const changed = 'notifications/tools/list_changed';
	ends.upstream.send({
		method: 'notifications/subscriptions/acknowledged',
		params: {_meta, notifications: {}},
	});
	ends.upstream.send({method: changed, params: {_meta}});
	t.deepEqual(lastOf(ends.client), {jsonrpc: '2.0', method: changed});
});

test('fails a queued request at the time limit, with an error that it was never sent', async t => {
	const {client, upstream, initialize} = wrapped({timeoutMs: 20});
	initialize();
	client.send({id: 1, method: 'tools/list'});
	await until(() => client.received.length > 1);
	t.deepEqual(
		upstream.received.map(({method}) => method),
		['initialize'],
	);
	const [handshake, queued] = client.receivedTexts;
	t.regex(handshake ?? '', /files did not respond to initialize within 0\.02 s\./);
	t.regex(queued ?? '', /files was not ready for tools\/list within 0\.02 s\. The request was never sent\./);
});

test('cancels a forwarded request at the time limit', async t => {
	const {client, upstream, ready} = wrapped({timeoutMs: 20});
	ready('2025-11-25', '2025-11-25');
	client.send({id: 1, method: 'tools/list'});
	await until(() => client.received.length > 1);
	t.like(lastOf(upstream), {method: 'notifications/cancelled', params: {requestId: 1}});
	t.regex(
		client.receivedTexts[1] ?? '',
		/files did not respond to tools\/list within 0\.02 s\. The request was cancelled\./,
	);
});

test('does not forward a second initialize, and responds with the negotiated version', t => {
	const {ready, initialize, client, receivedMethods} = wrapped({
		targetVersion: '2025-03-26',
		clientVersion: '2025-06-18',
	});
	ready('2025-11-25', '2025-03-26');
	initialize('2025-11-25');
	t.like(lastOf(client), {id: 'i', result: {protocolVersion: '2025-06-18'}});
	t.deepEqual(receivedMethods(), ['initialize', 'notifications/initialized']);
});

for (const [what, message] of [
	['a content type that is not a string', {content: [{type: {toString: 1}}]}],
	[
		'a link with members of the wrong type',
		{content: [{type: 'resource_link', uri: {toString: 1}, name: null, size: {}}]},
	],
] as const)
	test(`translates ${what} without an error`, t => {
		const {ready, client, upstream} = wrapped();
		ready('2025-03-26', '2025-11-25');
		client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
		upstream.send({id: 1, result: message});
		t.like(lastOf(client), {id: 1, result: {content: [{type: 'text'}]}});
		client.send({id: 2, method: 'ping'});
		t.like(lastOf(upstream), {id: 2});
	});

test('translates a message whose id is a lone surrogate', t => {
	const {ready, client, upstream} = wrapped();
	ready('2024-11-05', '2025-11-25');
	client.sendText('{"jsonrpc":"2.0","id":"\\ud800","method":"tools/call","params":{"name":"x"}}');
	upstream.sendText(
		'{"jsonrpc":"2.0","id":"\\ud800","result":{"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}}',
	);
	t.like(lastOf(client), {result: {content: [{type: 'resource'}]}});
});

test('handles elicitations that are not a list, and a version that is not a string', t => {
	const ends = wrapped();
	ends.client.send({id: 1, method: 'tools/call', params: {name: 'x', _meta: envelope()}});
	ends.respond();
	ends.upstream.send({id: 1, error: {code: -32042, message: 'go', data: {elicitations: {}}}});
	t.like(lastOf(ends.client), {id: 1, error: {code: -32603, message: 'go'}});
	const odd = {'io.modelcontextprotocol/protocolVersion': {toString: 1}};
	ends.client.send({id: 2, method: 'tools/list', params: {_meta: {...envelope(), ...odd}}});
	t.like(lastOf(ends.client), {id: 2, error: {code: -32022}});
});

test('distinguishes calls whose ids differ only in type', t => {
	const ends = wrapped();
	ends.initialize('2025-11-25', {elicitation: {}});
	respondAsStateless(ends);
	ends.initialized();
	const request = {method: 'elicitation/create', params: {message: 'm', requestedSchema: {type: 'object'}}};
	for (const id of [1, '1']) {
		ends.client.send({id, method: 'tools/call', params: {name: `tool ${typeof id}`}});
		ends.upstream.send({id, result: {resultType: 'input_required', inputRequests: {q: request}}});
		ends.client.send({id: lastOf(ends.client).id, result: {action: 'decline'}});
	}
	const retries = (ends.upstream.received as Json[]).filter(
		({params}) => 'inputResponses' in (params as Json),
	);
	t.is(new Set(retries.map(({id}) => id)).size, 2);
	for (const {id, params} of retries)
		ends.upstream.send({id, result: {resultType: 'complete', content: [], of: (params as Json).name}});
	t.like(ends.client.received.slice(-2), [
		{id: 1, result: {of: 'tool number'}},
		{id: '1', result: {of: 'tool string'}},
	]);
});

test('keeps the notation of numbers in a round of input', t => {
	const ends = wrapped();
	ends.initialize('2025-11-25', {elicitation: {}});
	respondAsStateless(ends);
	ends.initialized();
	ends.client.sendText(
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"account":9007199254740993}}}',
	);
	ends.upstream.sendText(
		'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1e3}}}}}}}}',
	);
	t.regex(ends.client.receivedTexts.at(-1) ?? '', /"maximum":1e3/);
	const {id} = lastOf(ends.client);
	ends.client.sendText(`{"jsonrpc":"2.0","id":"${id}","result":{"action":"accept","content":{"n":12.50}}}`);
	t.regex(ends.upstream.receivedTexts.at(-1) ?? '', /"account":9007199254740993.*"n":12\.50/);
});

test('fails with a remedy if the server does not support the stateless target version', t => {
	const ends = wrapped({targetVersion: '2026-07-28'});
	ends.initialize();
	t.like(lastOf(ends.upstream), {method: 'server/discover'});
	ends.upstream.send({
		id: lastOf(ends.upstream).id,
		result: {...discoverResult, supportedVersions: ['2027-01-01']},
	});
	t.like(lastOf(ends.client), {id: 'i', error: {code: -31_001}});
	t.regex(JSON.stringify(lastOf(ends.client)), /does not speak 2026-07-28.*--target-version/);
});

test('cancels a task that is created after its call was cancelled', async t => {
	const {initialize, respond, initialized, client, upstream, receivedMethods} = wrapped();
	initialize('2025-06-18');
	respond({capabilities: {tools: {}, tasks: {requests: {tools: {call: {}}}}}});
	initialized();
	client.send({id: 1, method: 'tools/list'});
	const tool = {name: 'job', inputSchema: {type: 'object'}, execution: {taskSupport: 'required'}};
	upstream.send({id: 1, result: {tools: [tool]}});
	client.send({id: 2, method: 'tools/call', params: {name: 'job'}});
	client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	upstream.send({id: 2, result: {task: {taskId: 'T', status: 'working', pollInterval: 1}}});
	await until(() => receivedMethods().includes('tasks/cancel'));
	t.false(receivedMethods().includes('tasks/get'));
});

test('does not log the content of dropped messages', async t => {
	const {ready, upstream, logged} = wrapped();
	ready('2025-06-18', '2025-11-25');
	upstream.send({
		method: 'notifications/tasks/status',
		params: {api_key: 'sk-123', taskId: 't', status: 'working'},
	});
	const entries = await logged('rpc.dropped');
	t.is(entries.length, 1);
	t.false(JSON.stringify(entries).includes('sk-123'));
});

test('fails the handshake if the result of initialize is not an object', t => {
	const {initialize, client, upstream} = wrapped();
	initialize();
	upstream.sendText(`{"jsonrpc":"2.0","id":"i","result":null}`);
	t.like(lastOf(client), {id: 'i', error: {code: -31_001}});
});
