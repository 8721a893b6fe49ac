import test from 'ava';
import {objectOf} from '../../lib/util/json.js';
import {validators} from '../helpers/validity/validators.js';
import {
	answerHandshake,
	clientInfo,
	envelope,
	lastOf,
	serverInfo,
	shakeHands,
	versioned,
} from '../helpers/version-stages.js';
import {
	LOG_LEVEL,
	STATELESS,
	sendRequest,
	statelessClientPair,
	takeReceived,
	textResult,
} from './stateless-support.js';

const SERVER = {'io.modelcontextprotocol/serverInfo': serverInfo};

test('initializes the upstream with the info and capabilities of a stateless client', t => {
	const pair = versioned();
	sendRequest(pair, 1, {capabilities: {roots: {}}});
	t.is(pair.upstream.received.length, 1);
	t.like(lastOf(pair.upstream), {
		method: 'initialize',
		params: {protocolVersion: '2025-11-25', capabilities: {roots: {}}, clientInfo},
	});
	answerHandshake(pair, '2025-11-25');
	t.like(pair.upstream.received.slice(1), [
		{method: 'notifications/initialized'},
		{id: 1, method: 'tools/call'},
	]);
	t.deepEqual(pair.client.received, []);
});

test('removes only the envelope from a request', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {
		params: {name: 'x', arguments: {a: 1}},
		meta: {progressToken: 7, [LOG_LEVEL]: 'info'},
	});
	t.deepEqual(takeReceived(pair.upstream), [
		{
			jsonrpc: '2.0',
			id: 1,
			method: 'tools/call',
			params: {name: 'x', arguments: {a: 1}, _meta: {progressToken: 7}},
		},
	]);
});

test('adds resultType and serverInfo to a result, and keeps its _meta', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send({id: 1, result: {...textResult('a'), _meta: {mine: 1}}});
	t.deepEqual(lastOf(pair.client).result, {
		resultType: 'complete',
		...textResult('a'),
		_meta: {mine: 1, ...SERVER},
	});
});

for (const method of [
	'tools/list',
	'prompts/list',
	'resources/list',
	'resources/templates/list',
	'resources/read',
])
	test(`marks a result of ${method} as not cacheable`, t => {
		const pair = statelessClientPair();
		sendRequest(pair, 1, {method});
		pair.upstream.send({id: 1, result: {}});
		t.like(lastOf(pair.client), {result: {ttlMs: 0, cacheScope: 'private', resultType: 'complete'}});
	});

test('preserves the code of an error, except removed codes', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	sendRequest(pair, 2);
	pair.upstream.send({id: 1, error: {code: -32601, message: 'no', data: {a: 1}}});
	pair.upstream.send({id: 2, error: {code: -32002, message: 'not found', data: {uri: 'x'}}});
	t.deepEqual(takeReceived(pair.client), [
		{jsonrpc: '2.0', id: 1, error: {code: -32601, message: 'no', data: {a: 1}}},
		{jsonrpc: '2.0', id: 2, error: {code: -32602, message: 'not found', data: {uri: 'x'}}},
	]);
});

test('responds to server/discover itself', t => {
	const pair = statelessClientPair({tools: {}, tasks: {}});
	for (const id of [1, 2]) sendRequest(pair, id, {method: 'server/discover', params: {}});
	t.deepEqual(pair.upstream.received, []);
	const [first, second] = takeReceived(pair.client);
	t.deepEqual(first?.result, {
		resultType: 'complete',
		supportedVersions: [STATELESS],
		capabilities: {tools: {}},
		instructions: 'Use it.',
		ttlMs: 0,
		cacheScope: 'private',
		_meta: SERVER,
	});
	t.deepEqual(second, {...first, id: 2});
});

test('rejects a request with an unsupported version, and names the supported one', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {meta: {'io.modelcontextprotocol/protocolVersion': '2027-01-01'}});
	t.like(lastOf(pair.client), {
		id: 1,
		error: {code: -32022, data: {requested: '2027-01-01', supported: [STATELESS]}},
	});
	t.deepEqual(pair.upstream.received, []);
});

test('rejects a first request with an unsupported version before the handshake', t => {
	const pair = versioned();
	sendRequest(pair, 1, {meta: {'io.modelcontextprotocol/protocolVersion': '2027-01-01'}});
	t.like(lastOf(pair.client), {id: 1, error: {code: -32022, data: {supported: [STATELESS]}}});
	t.deepEqual(pair.upstream.received, []);
});

for (const member of ['protocolVersion', 'clientCapabilities'])
	test(`rejects a request without ${member} in its envelope`, t => {
		const pair = statelessClientPair();
		const {[`io.modelcontextprotocol/${member}`]: _, ...meta} = envelope();
		pair.client.send({id: 1, method: 'tools/list', params: {_meta: meta}});
		t.like(lastOf(pair.client), {id: 1, error: {code: -32602}});
		t.true(String(objectOf(lastOf(pair.client).error).message).includes(member));
		t.deepEqual(pair.upstream.received, []);
	});

test('rejects a request without params, because it has no envelope', t => {
	const pair = statelessClientPair();
	pair.client.send({id: 1, method: 'tools/list'});
	t.like(lastOf(pair.client), {id: 1, error: {code: -32602}});
});

test('sends logging/setLevel only when the level of a request differs', t => {
	const pair = statelessClientPair({tools: {}, logging: {}});
	for (const [id, level] of [
		[1, 'info'],
		[2, 'info'],
		[3, 'debug'],
	])
		sendRequest(pair, id, {meta: {[LOG_LEVEL]: level}});
	t.like(takeReceived(pair.upstream), [
		{method: 'logging/setLevel', params: {level: 'info'}},
		{id: 1},
		{id: 2},
		{method: 'logging/setLevel', params: {level: 'debug'}},
		{id: 3},
	]);
});

test('drops the response to its logging/setLevel', async t => {
	const pair = statelessClientPair({tools: {}, logging: {}});
	sendRequest(pair, 1, {meta: {[LOG_LEVEL]: 'info'}});
	pair.upstream.send({id: pair.upstream.received[0]?.id, error: {code: -32603, message: 'no'}});
	t.deepEqual(pair.client.received, []);
	t.false((await pair.entries()).some(({event}) => event === 'rpc.orphan_response'));
});

test('does not send logging/setLevel to an upstream without logging', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {meta: {[LOG_LEVEL]: 'info'}});
	t.like(takeReceived(pair.upstream), [{id: 1, method: 'tools/call'}]);
});

test('forwards log messages only while a request with a matching log level is pending', t => {
	const pair = statelessClientPair({tools: {}, logging: {}});
	const log = (level: string): void =>
		pair.upstream.send({method: 'notifications/message', params: {level, data: level}});
	sendRequest(pair, 1);
	log('emergency');
	sendRequest(pair, 2, {meta: {[LOG_LEVEL]: 'warning'}});
	for (const level of ['debug', 'notice', 'warning', 'alert']) log(level);
	const levels = takeReceived(pair.client).map(({params}) => objectOf(params).level);
	t.deepEqual(levels, ['warning', 'alert']);
	pair.upstream.send({id: 2, result: textResult('a')});
	takeReceived(pair.client);
	log('emergency');
	t.deepEqual(pair.client.received, []);
});

test('forwards progress byte for byte', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {meta: {progressToken: 'p'}});
	const text =
		'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0}}';
	pair.upstream.sendText(text);
	t.deepEqual(pair.client.receivedTexts, [text]);
});

test('drops notifications that the stateless version does not define', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	for (const method of ['notifications/tasks/status', 'notifications/elicitation/complete'])
		pair.upstream.send({method, params: {}});
	t.deepEqual(pair.client.received, []);
});

test('responds to a ping of the upstream itself', t => {
	const pair = statelessClientPair();
	pair.upstream.sendText('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}');
	t.deepEqual(pair.upstream.receivedTexts, ['{"jsonrpc":"2.0","id":9007199254740993,"result":{}}']);
	t.deepEqual(pair.client.received, []);
});

test('rejects a server request with an unknown method', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {capabilities: {elicitation: {}}});
	takeReceived(pair.upstream);
	pair.upstream.send({id: 's', method: 'tasks/get', params: {}});
	t.like(takeReceived(pair.upstream), [{id: 's', error: {code: -32601}}]);
	t.deepEqual(pair.client.received, []);
});

test('forwards a cancellation with the upstream id', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	takeReceived(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1, reason: 'enough'}});
	t.like(takeReceived(pair.upstream), [
		{method: 'notifications/cancelled', params: {requestId: 1, reason: 'enough'}},
	]);
});

test('removes the envelope from a cancellation', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	takeReceived(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1, _meta: envelope()}});
	t.deepEqual(takeReceived(pair.upstream), [
		{jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}},
	]);
});

test('rejects server requests after the only call was cancelled', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	takeReceived(pair.upstream);
	pair.upstream.send({id: 's', method: 'elicitation/create', params: {message: '?'}});
	t.like(takeReceived(pair.upstream), [{id: 's', error: {code: -32601}}]);
});

test('removes null from discovered capabilities, and counts the loss', t => {
	const pair = versioned();
	shakeHands(pair, {client: STATELESS, server: '2025-11-25', serverCapabilities: {logging: {a: null}}});
	for (const validator of validators)
		t.deepEqual(validator.violations(STATELESS, lastOf(pair.client), {method: 'server/discover'}), []);
	t.deepEqual([...pair.session.losses], [['null and fractions in capabilities', 1]]);
});
