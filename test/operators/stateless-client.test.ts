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
import {ask, LOG_LEVEL, MODERN, modernClientPair, news, textResult} from './stateless-support.js';

const SERVER = {'io.modelcontextprotocol/serverInfo': serverInfo};

test('a request of a modern client makes bridge shake hands with its name and capabilities', t => {
	const pair = versioned();
	ask(pair, 1, {can: {roots: {}}});
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

test('a request loses its envelope and nothing else', t => {
	const pair = modernClientPair();
	ask(pair, 1, {params: {name: 'x', arguments: {a: 1}}, meta: {progressToken: 7, [LOG_LEVEL]: 'info'}});
	t.deepEqual(news(pair.upstream), [
		{
			jsonrpc: '2.0',
			id: 1,
			method: 'tools/call',
			params: {name: 'x', arguments: {a: 1}, _meta: {progressToken: 7}},
		},
	]);
});

test('a result is complete, says who answered, and keeps its own meta', t => {
	const pair = modernClientPair();
	ask(pair, 1);
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
	test(`a result of ${method} may not be kept`, t => {
		const pair = modernClientPair();
		ask(pair, 1, {method});
		pair.upstream.send({id: 1, result: {}});
		t.like(lastOf(pair.client), {result: {ttlMs: 0, cacheScope: 'private', resultType: 'complete'}});
	});

test('an error keeps its code, unless nobody may send it any more', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	ask(pair, 2);
	pair.upstream.send({id: 1, error: {code: -32601, message: 'no', data: {a: 1}}});
	pair.upstream.send({id: 2, error: {code: -32002, message: 'not found', data: {uri: 'x'}}});
	t.deepEqual(news(pair.client), [
		{jsonrpc: '2.0', id: 1, error: {code: -32601, message: 'no', data: {a: 1}}},
		{jsonrpc: '2.0', id: 2, error: {code: -32602, message: 'not found', data: {uri: 'x'}}},
	]);
});

test('discover is answered here, as often as it is asked', t => {
	const pair = modernClientPair({tools: {}, tasks: {}});
	for (const id of [1, 2]) ask(pair, id, {method: 'server/discover', params: {}});
	t.deepEqual(pair.upstream.received, []);
	const [first, second] = news(pair.client);
	t.deepEqual(first?.result, {
		resultType: 'complete',
		supportedVersions: [MODERN],
		capabilities: {tools: {}},
		instructions: 'Use it.',
		ttlMs: 0,
		cacheScope: 'private',
		_meta: SERVER,
	});
	t.deepEqual(second, {...first, id: 2});
});

test('a request with another version in its envelope is refused with the one that can be', t => {
	const pair = modernClientPair();
	ask(pair, 1, {meta: {'io.modelcontextprotocol/protocolVersion': '2027-01-01'}});
	t.like(lastOf(pair.client), {
		id: 1,
		error: {code: -32022, data: {requested: '2027-01-01', supported: [MODERN]}},
	});
	t.deepEqual(pair.upstream.received, []);
});

test('a first request with another version is refused before the server is asked anything', t => {
	const pair = versioned();
	ask(pair, 1, {meta: {'io.modelcontextprotocol/protocolVersion': '2027-01-01'}});
	t.like(lastOf(pair.client), {id: 1, error: {code: -32022, data: {supported: [MODERN]}}});
	t.deepEqual(pair.upstream.received, []);
});

for (const member of ['protocolVersion', 'clientCapabilities'])
	test(`a request without ${member} in its envelope is refused`, t => {
		const pair = modernClientPair();
		const {[`io.modelcontextprotocol/${member}`]: _, ...meta} = envelope();
		pair.client.send({id: 1, method: 'tools/list', params: {_meta: meta}});
		t.like(lastOf(pair.client), {id: 1, error: {code: -32602}});
		t.true(String(objectOf(lastOf(pair.client).error).message).includes(member));
		t.deepEqual(pair.upstream.received, []);
	});

test('a request without params is refused for the envelope that it lacks', t => {
	const pair = modernClientPair();
	pair.client.send({id: 1, method: 'tools/list'});
	t.like(lastOf(pair.client), {id: 1, error: {code: -32602}});
});

test('a level for log messages is set where it is another than before', t => {
	const pair = modernClientPair({tools: {}, logging: {}});
	for (const [id, level] of [
		[1, 'info'],
		[2, 'info'],
		[3, 'debug'],
	])
		ask(pair, id, {meta: {[LOG_LEVEL]: level}});
	t.like(news(pair.upstream), [
		{method: 'logging/setLevel', params: {level: 'info'}},
		{id: 1},
		{id: 2},
		{method: 'logging/setLevel', params: {level: 'debug'}},
		{id: 3},
	]);
});

test('the answer to a level that bridge has set is for nobody', async t => {
	const pair = modernClientPair({tools: {}, logging: {}});
	ask(pair, 1, {meta: {[LOG_LEVEL]: 'info'}});
	pair.upstream.send({id: pair.upstream.received[0]?.id, error: {code: -32603, message: 'no'}});
	t.deepEqual(pair.client.received, []);
	t.false((await pair.entries()).some(({event}) => event === 'rpc.orphan_response'));
});

test('a server without log messages is not asked for a level', t => {
	const pair = modernClientPair();
	ask(pair, 1, {meta: {[LOG_LEVEL]: 'info'}});
	t.like(news(pair.upstream), [{id: 1, method: 'tools/call'}]);
});

test('log messages reach a client only while a request is under way that wants them, from its level on', t => {
	const pair = modernClientPair({tools: {}, logging: {}});
	const log = (level: string): void =>
		pair.upstream.send({method: 'notifications/message', params: {level, data: level}});
	ask(pair, 1);
	log('emergency');
	ask(pair, 2, {meta: {[LOG_LEVEL]: 'warning'}});
	for (const level of ['debug', 'notice', 'warning', 'alert']) log(level);
	const heard = news(pair.client).map(({params}) => objectOf(params).level);
	t.deepEqual(heard, ['warning', 'alert']);
	pair.upstream.send({id: 2, result: textResult('a')});
	news(pair.client);
	log('emergency');
	t.deepEqual(pair.client.received, []);
});

test('progress goes to the client as it is', t => {
	const pair = modernClientPair();
	ask(pair, 1, {meta: {progressToken: 'p'}});
	const text =
		'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0}}';
	pair.upstream.sendText(text);
	t.deepEqual(pair.client.receivedTexts, [text]);
});

test('what modern clients have no word for is not told to them', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	for (const method of ['notifications/tasks/status', 'notifications/elicitation/complete'])
		pair.upstream.send({method, params: {}});
	t.deepEqual(pair.client.received, []);
});

test('a ping of the server is answered here', t => {
	const pair = modernClientPair();
	pair.upstream.sendText('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}');
	t.deepEqual(pair.upstream.receivedTexts, ['{"jsonrpc":"2.0","id":9007199254740993,"result":{}}']);
	t.deepEqual(pair.client.received, []);
});

test('a method that servers have never asked is refused', t => {
	const pair = modernClientPair();
	ask(pair, 1, {can: {elicitation: {}}});
	news(pair.upstream);
	pair.upstream.send({id: 's', method: 'tasks/get', params: {}});
	t.like(news(pair.upstream), [{id: 's', error: {code: -32601}}]);
	t.deepEqual(pair.client.received, []);
});

test('a client that gives a request up is heard under the id that the server knows', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	news(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1, reason: 'enough'}});
	t.like(news(pair.upstream), [
		{method: 'notifications/cancelled', params: {requestId: 1, reason: 'enough'}},
	]);
});

test('what a client gives up is told to a handshake server without the envelope', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	news(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1, _meta: envelope()}});
	t.deepEqual(news(pair.upstream), [
		{jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}},
	]);
});

test('a request that was given up carries no question any more', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	news(pair.upstream);
	pair.upstream.send({id: 's', method: 'elicitation/create', params: {message: '?'}});
	t.like(news(pair.upstream), [{id: 's', error: {code: -32601}}]);
});

test('what is discovered of a server with null in its capabilities is valid, and the loss is counted', t => {
	const pair = versioned();
	shakeHands(pair, {client: MODERN, server: '2025-11-25', serverCapabilities: {logging: {a: null}}});
	for (const validator of validators)
		t.deepEqual(validator.violations(MODERN, lastOf(pair.client), {method: 'server/discover'}), []);
	t.deepEqual([...pair.session.losses], [['null and fractions in capabilities', 1]]);
});
