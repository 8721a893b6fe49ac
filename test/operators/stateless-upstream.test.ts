import test from 'ava';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {validators} from '../helpers/validity/validators.js';
import {clientInfo, envelope, lastOf, type Pair, serverInfo, versioned} from '../helpers/version-stages.js';
import {LOG_LEVEL, MODERN, modernServerPair, news, textResult} from './stateless-support.js';

const SERVER = {'io.modelcontextprotocol/serverInfo': serverInfo};

const initialize = ({client}: Pair, protocolVersion = '2025-06-18'): void =>
	client.send({
		id: 1,
		method: 'initialize',
		params: {protocolVersion, capabilities: {roots: {listChanged: true}, tasks: {}}, clientInfo},
	});

const discovery = {
	resultType: 'complete',
	supportedVersions: [MODERN],
	capabilities: {tools: {}},
	_meta: SERVER,
};

/** Refuses what was asked last. */
const refuse = ({upstream}: Pair, error: JsonObject): void => upstream.send({id: lastOf(upstream).id, error});

test('a server that is to be spoken to in the modern version is asked to discover, never to initialize', t => {
	const pair = versioned({targetVersion: MODERN});
	initialize(pair);
	pair.upstream.send({id: lastOf(pair.upstream).id, result: discovery});
	pair.client.send({method: 'notifications/initialized'});
	pair.client.send({id: 2, method: 'tools/list'});
	t.deepEqual(
		pair.upstream.received.map(({method}) => method),
		['server/discover', 'tools/list'],
	);
});

test('discover says who asks, less what modern servers have no word for', t => {
	const pair = versioned({targetVersion: MODERN});
	initialize(pair);
	t.deepEqual(lastOf(pair.upstream).params, {_meta: envelope({roots: {}})});
});

const refusals: ReadonlyArray<readonly [what: string, error: JsonObject, isModern: boolean]> = [
	['says that it knows no such version', {code: -32022, message: 'no'}, true],
	['names the modern version', {code: -32022, message: 'no', data: {supported: [MODERN]}}, true],
	['names it under another code', {code: -32000, message: 'no', data: {supported: ['x', MODERN]}}, true],
	['misses a header of the modern era', {code: -32020, message: 'no'}, true],
	['knows no initialize', {code: -32601, message: 'Method not found'}, true],
	['names other versions only', {code: -32022, message: 'no', data: {supported: ['2024-11-05']}}, false],
	['wants other params', {code: -32602, message: 'no'}, false],
	['has a fault', {code: -32001, message: 'no'}, false],
];
for (const [what, error, isModern] of refusals)
	test(`a server that ${what} is ${isModern ? '' : 'not '}asked to discover`, t => {
		const pair = versioned();
		initialize(pair);
		news(pair.upstream);
		pair.upstream.send({id: 1, error});
		t.is(pair.upstream.received[0]?.method === 'server/discover', isModern);
	});

test('initialize is answered from what is discovered, in the version that the client asked for', t => {
	const pair = versioned();
	initialize(pair);
	refuse(pair, {code: -32601, message: 'no'});
	const capabilities = {tools: {}, extensions: {x: {}}};
	pair.upstream.send({
		id: lastOf(pair.upstream).id,
		result: {...discovery, capabilities, instructions: 'hi'},
	});
	t.deepEqual(news(pair.client), [
		{
			jsonrpc: '2.0',
			id: 1,
			result: {protocolVersion: '2025-06-18', capabilities: {tools: {}}, serverInfo, instructions: 'hi'},
		},
	]);
});

test('a server that discovers no name has one all the same', t => {
	const pair = versioned({targetVersion: MODERN});
	initialize(pair);
	pair.upstream.send({id: lastOf(pair.upstream).id, result: {supportedVersions: [MODERN]}});
	t.like(lastOf(pair.client), {result: {serverInfo: {name: 'unknown', version: '0'}, capabilities: {}}});
});

for (const [what, answer] of [
	['fails', {error: {code: -32601, message: 'Method not found: server/discover'}}],
	['names other versions', {result: {supportedVersions: ['2027-01-01']}}],
] as const)
	test(`where discover ${what}, the client hears how initialize was refused`, t => {
		const pair = versioned();
		initialize(pair);
		refuse(pair, {code: -32601, message: 'initialize is not for you'});
		pair.upstream.send({id: lastOf(pair.upstream).id, ...answer});
		t.deepEqual(news(pair.client), [
			{jsonrpc: '2.0', id: 1, error: {code: -32601, message: 'initialize is not for you'}},
		]);
	});

test('with a target version, the client hears that the server does not have it, and what to do', t => {
	const pair = versioned({targetVersion: MODERN});
	initialize(pair);
	refuse(pair, {code: -32601, message: 'Method not found: server/discover'});
	t.like(news(pair.client), [{id: 1, error: {code: -31_001, data: {kind: 'upstream_unavailable'}}}]);
});

test('with a target version, a server that does not have it is an error', t => {
	const pair = versioned({targetVersion: MODERN});
	initialize(pair);
	pair.upstream.send({id: lastOf(pair.upstream).id, result: {supportedVersions: ['2027-01-01']}});
	t.is(news(pair.client)[0]?.result, undefined);
});

test('each request gets an envelope, and keeps its own meta', t => {
	const {client, upstream} = modernServerPair({clientCapabilities: {elicitation: {}}});
	client.send({id: 1, method: 'tools/call', params: {name: 'x', task: {ttl: 1}, _meta: {progressToken: 1}}});
	client.send({id: 2, method: 'tools/list'});
	const _meta = envelope({elicitation: {}});
	t.deepEqual(news(upstream), [
		{jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'x', _meta: {progressToken: 1, ..._meta}}},
		{jsonrpc: '2.0', id: 2, method: 'tools/list', params: {_meta}},
	]);
});

test('a level for log messages is noted here, and told with every request from then on', t => {
	const {client, upstream} = modernServerPair();
	client.send({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	t.deepEqual(news(client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	t.deepEqual(upstream.received, []);
	client.send({id: 2, method: 'tools/list'});
	t.is(objectOf(objectOf(lastOf(upstream).params)._meta)[LOG_LEVEL], 'error');
});

test('ping is answered here', t => {
	const {client, upstream} = modernServerPair();
	client.send({id: 1, method: 'ping'});
	t.deepEqual(news(client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	t.deepEqual(upstream.received, []);
});

for (const method of ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'])
	test(`${method} is refused`, t => {
		const {client, upstream} = modernServerPair();
		client.send({id: 1, method, params: {taskId: 'T'}});
		t.like(news(client), [{id: 1, error: {code: -32601}}]);
		t.deepEqual(upstream.received, []);
	});

test('what modern servers have no word for is not told to them, and other notifications are', t => {
	const {client, upstream} = modernServerPair();
	client.send({method: 'notifications/roots/list_changed'});
	client.send({method: 'notifications/progress', params: {progressToken: 1, progress: 1}});
	client.send({method: 'notifications/cancelled', params: {reason: 'of something'}});
	t.deepEqual(upstream.received, []);
	const text = '{"jsonrpc":"2.0","method":"notifications/own","params":{"a":1.0}}';
	client.sendText(text);
	t.deepEqual(upstream.receivedTexts, [text]);
});

test('an error and an answer to nothing known pass as they are', t => {
	const {client, upstream} = modernServerPair();
	client.send({id: 1, method: 'tools/list'});
	const text = '{"jsonrpc":"2.0", "id":1,"error":{"code":-32021,"message":"no","data":{"n":1.0}}}';
	upstream.sendText(text);
	t.deepEqual(client.receivedTexts, [text]);
	upstream.send({id: 99, result: {}});
	t.is(client.received.length, 1);
});

test('a call that is given up is given up under its id', t => {
	const {client, upstream} = modernServerPair();
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	news(upstream);
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.deepEqual(news(upstream), [{jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}}]);
});

/** A handshake client asks for the tools, and hears of these. */
function listTools({client, upstream}: Pair, ...tools: JsonObject[]): unknown {
	client.send({id: 'list', method: 'tools/list'});
	upstream.send({id: 'list', result: {resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools}});
	return objectOf(news(client)[0]?.result).tools;
}

function callTool({client, upstream}: Pair, name: string, structuredContent: unknown): JsonObject {
	client.send({id: 'call', method: 'tools/call', params: {name}});
	upstream.send({id: 'call', result: {resultType: 'complete', ...textResult('t'), structuredContent}});
	return objectOf(news(client)[0]?.result);
}

const inputSchema = {type: 'object'};

test('output that is no object is the only member of one, for the tools that have it', t => {
	const pair = modernServerPair();
	const outputSchema = {anyOf: [{type: 'object'}, {$ref: '#/$defs/a'}, {$ref: '#'}, {$ref: 'https://a#/b'}]};
	const tools = listTools(
		pair,
		{name: 'w', inputSchema, outputSchema},
		{name: 'o', inputSchema, outputSchema: inputSchema},
	);
	const result = {
		anyOf: [
			{type: 'object'},
			{$ref: '#/properties/result/$defs/a'},
			{$ref: '#/properties/result'},
			{$ref: 'https://a#/b'},
		],
	};
	t.deepEqual(tools, [
		{name: 'w', inputSchema, outputSchema: {type: 'object', properties: {result}, required: ['result']}},
		{name: 'o', inputSchema, outputSchema: inputSchema},
	]);
	t.deepEqual(callTool(pair, 'w', {a: 1}), {...textResult('t'), structuredContent: {result: {a: 1}}});
	t.deepEqual(callTool(pair, 'o', {a: 1}), {...textResult('t'), structuredContent: {a: 1}});
	t.deepEqual(callTool(pair, 'unknown', null), {...textResult('t'), structuredContent: {result: null}});
});

test('a tool whose output has become an object is not wrapped any more', t => {
	const pair = modernServerPair();
	listTools(pair, {name: 'w', inputSchema, outputSchema: {type: 'array'}});
	listTools(pair, {name: 'w', inputSchema, outputSchema: inputSchema});
	t.deepEqual(callTool(pair, 'w', {a: 1}).structuredContent, {a: 1});
});

test('properties that are true or false are schemas that mean the same', t => {
	const properties = {any: true, none: false, text: {type: 'string'}};
	const schema = {type: 'object', properties};
	const same = {type: 'object', properties: {any: {}, none: {not: {}}, text: {type: 'string'}}};
	t.deepEqual(listTools(modernServerPair(), {name: 'x', inputSchema: schema, outputSchema: schema}), [
		{name: 'x', inputSchema: same, outputSchema: same},
	]);
});

test('capabilities without a word in the modern schema are counted and told once', async t => {
	const pair = modernServerPair({clientCapabilities: {experimental: {x: {a: null}}}});
	pair.client.send({id: 1, method: 'tools/list'});
	for (const validator of validators)
		t.deepEqual(validator.violations(MODERN, lastOf(pair.upstream), {method: 'tools/list'}), []);
	t.deepEqual([...pair.session.losses], [['null and fractions in capabilities', 1]]);
	const lost = (await pair.entries()).filter(({event}) => event === 'proxy.feature.lost');
	t.is(lost.length, 1);
});
