import test from 'ava';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {validators} from '../helpers/validity/validators.js';
import {clientInfo, envelope, lastOf, type Pair, serverInfo, versioned} from '../helpers/version-stages.js';
import {LOG_LEVEL, STATELESS, statelessUpstreamPair, takeReceived, textResult} from './stateless-support.js';

const SERVER = {'io.modelcontextprotocol/serverInfo': serverInfo};

const initialize = ({client}: Pair, protocolVersion = '2025-06-18'): void =>
	client.send({
		id: 1,
		method: 'initialize',
		params: {protocolVersion, capabilities: {roots: {listChanged: true}, tasks: {}}, clientInfo},
	});

const discovery = {
	resultType: 'complete',
	supportedVersions: [STATELESS],
	capabilities: {tools: {}},
	_meta: SERVER,
};

/** Rejects the last request. */
const reject = ({upstream}: Pair, error: JsonObject): void => upstream.send({id: lastOf(upstream).id, error});

test('sends server/discover instead of initialize with a stateless target version', t => {
	const pair = versioned({targetVersion: STATELESS});
	initialize(pair);
	pair.upstream.send({id: lastOf(pair.upstream).id, result: discovery});
	pair.client.send({method: 'notifications/initialized'});
	pair.client.send({id: 2, method: 'tools/list'});
	t.deepEqual(
		pair.upstream.received.map(({method}) => method),
		['server/discover', 'tools/list'],
	);
});

test('sends the client info in server/discover, without capabilities that the stateless version lacks', t => {
	const pair = versioned({targetVersion: STATELESS});
	initialize(pair);
	t.deepEqual(lastOf(pair.upstream).params, {_meta: envelope({roots: {}})});
});

const rejections: ReadonlyArray<readonly [cause: string, error: JsonObject, isStateless: boolean]> = [
	['an unsupported version', {code: -32022, message: 'no'}, true],
	['the stateless version as supported', {code: -32022, message: 'no', data: {supported: [STATELESS]}}, true],
	[
		'the stateless version under another code',
		{code: -32000, message: 'no', data: {supported: ['x', STATELESS]}},
		true,
	],
	['a missing header of the stateless era', {code: -32020, message: 'no'}, true],
	['an unknown method initialize', {code: -32601, message: 'Method not found'}, true],
	['other versions only', {code: -32022, message: 'no', data: {supported: ['2024-11-05']}}, false],
	['invalid params', {code: -32602, message: 'no'}, false],
	['another error', {code: -32001, message: 'no'}, false],
];
for (const [cause, error, isStateless] of rejections)
	test(`${isStateless ? 'sends' : 'does not send'} server/discover after an error with ${cause}`, t => {
		const pair = versioned();
		initialize(pair);
		takeReceived(pair.upstream);
		pair.upstream.send({id: 1, error});
		t.is(pair.upstream.received[0]?.method === 'server/discover', isStateless);
	});

test('responds to initialize from the discovered result, in the version of the client', t => {
	const pair = versioned();
	initialize(pair);
	reject(pair, {code: -32601, message: 'no'});
	const capabilities = {tools: {}, extensions: {x: {}}};
	pair.upstream.send({
		id: lastOf(pair.upstream).id,
		result: {...discovery, capabilities, instructions: 'hi'},
	});
	t.deepEqual(takeReceived(pair.client), [
		{
			jsonrpc: '2.0',
			id: 1,
			result: {protocolVersion: '2025-06-18', capabilities: {tools: {}}, serverInfo, instructions: 'hi'},
		},
	]);
});

test('adds a default serverInfo to a discovered result without one', t => {
	const pair = versioned({targetVersion: STATELESS});
	initialize(pair);
	pair.upstream.send({id: lastOf(pair.upstream).id, result: {supportedVersions: [STATELESS]}});
	t.like(lastOf(pair.client), {result: {serverInfo: {name: 'unknown', version: '0'}, capabilities: {}}});
});

for (const [outcome, response] of [
	['fails', {error: {code: -32601, message: 'Method not found: server/discover'}}],
	['supports other versions only', {result: {supportedVersions: ['2027-01-01']}}],
] as const)
	test(`forwards the error of initialize if server/discover ${outcome}`, t => {
		const pair = versioned();
		initialize(pair);
		reject(pair, {code: -32601, message: 'initialize is not supported'});
		pair.upstream.send({id: lastOf(pair.upstream).id, ...response});
		t.deepEqual(takeReceived(pair.client), [
			{jsonrpc: '2.0', id: 1, error: {code: -32601, message: 'initialize is not supported'}},
		]);
	});

test('fails initialize if the upstream rejects the target version', t => {
	const pair = versioned({targetVersion: STATELESS});
	initialize(pair);
	reject(pair, {code: -32601, message: 'Method not found: server/discover'});
	t.like(takeReceived(pair.client), [{id: 1, error: {code: -31_001, data: {kind: 'upstream_unavailable'}}}]);
});

test('fails initialize if the upstream does not support the target version', t => {
	const pair = versioned({targetVersion: STATELESS});
	initialize(pair);
	pair.upstream.send({id: lastOf(pair.upstream).id, result: {supportedVersions: ['2027-01-01']}});
	t.is(takeReceived(pair.client)[0]?.result, undefined);
});

test('adds an envelope to each request, and keeps its _meta', t => {
	const {client, upstream} = statelessUpstreamPair({clientCapabilities: {elicitation: {}}});
	client.send({id: 1, method: 'tools/call', params: {name: 'x', task: {ttl: 1}, _meta: {progressToken: 1}}});
	client.send({id: 2, method: 'tools/list'});
	const _meta = envelope({elicitation: {}});
	t.deepEqual(takeReceived(upstream), [
		{jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'x', _meta: {progressToken: 1, ..._meta}}},
		{jsonrpc: '2.0', id: 2, method: 'tools/list', params: {_meta}},
	]);
});

test('stores the log level, and sends it with every later request', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.send({id: 1, method: 'logging/setLevel', params: {level: 'error'}});
	t.deepEqual(takeReceived(client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	t.deepEqual(upstream.received, []);
	client.send({id: 2, method: 'tools/list'});
	t.is(objectOf(objectOf(lastOf(upstream).params)._meta)[LOG_LEVEL], 'error');
});

test('responds to ping itself', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.send({id: 1, method: 'ping'});
	t.deepEqual(takeReceived(client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	t.deepEqual(upstream.received, []);
});

for (const method of ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'])
	test(`rejects ${method}`, t => {
		const {client, upstream} = statelessUpstreamPair();
		client.send({id: 1, method, params: {taskId: 'T'}});
		t.like(takeReceived(client), [{id: 1, error: {code: -32601}}]);
		t.deepEqual(upstream.received, []);
	});

test('drops notifications that the stateless version does not define, and forwards others', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.send({method: 'notifications/roots/list_changed'});
	client.send({method: 'notifications/progress', params: {progressToken: 1, progress: 1}});
	client.send({method: 'notifications/cancelled', params: {reason: 'unknown'}});
	t.deepEqual(upstream.received, []);
	const text = '{"jsonrpc":"2.0","method":"notifications/own","params":{"a":1.0}}';
	client.sendText(text);
	t.deepEqual(upstream.receivedTexts, [text]);
});

test('forwards an error unchanged, and drops the response to an unknown request', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.send({id: 1, method: 'tools/list'});
	const text = '{"jsonrpc":"2.0", "id":1,"error":{"code":-32021,"message":"no","data":{"n":1.0}}}';
	upstream.sendText(text);
	t.deepEqual(client.receivedTexts, [text]);
	upstream.send({id: 99, result: {}});
	t.is(client.received.length, 1);
});

test('forwards a cancellation with the id of the call', t => {
	const {client, upstream} = statelessUpstreamPair();
	client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	takeReceived(upstream);
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.deepEqual(takeReceived(upstream), [
		{jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 1}},
	]);
});

/** Lists these tools for a handshake client, and returns them as received. */
function listTools({client, upstream}: Pair, ...tools: JsonObject[]): unknown {
	client.send({id: 'list', method: 'tools/list'});
	upstream.send({id: 'list', result: {resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools}});
	return objectOf(takeReceived(client)[0]?.result).tools;
}

function callTool({client, upstream}: Pair, name: string, structuredContent: unknown): JsonObject {
	client.send({id: 'call', method: 'tools/call', params: {name}});
	upstream.send({id: 'call', result: {resultType: 'complete', ...textResult('t'), structuredContent}});
	return objectOf(takeReceived(client)[0]?.result);
}

const inputSchema = {type: 'object'};

test('wraps the output of tools whose schema is not an object', t => {
	const pair = statelessUpstreamPair();
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

test('stops wrapping a tool whose output has become an object', t => {
	const pair = statelessUpstreamPair();
	listTools(pair, {name: 'w', inputSchema, outputSchema: {type: 'array'}});
	listTools(pair, {name: 'w', inputSchema, outputSchema: inputSchema});
	t.deepEqual(callTool(pair, 'w', {a: 1}).structuredContent, {a: 1});
});

test('replaces boolean property schemas with equivalent objects', t => {
	const properties = {any: true, none: false, text: {type: 'string'}};
	const schema = {type: 'object', properties};
	const same = {type: 'object', properties: {any: {}, none: {not: {}}, text: {type: 'string'}}};
	t.deepEqual(listTools(statelessUpstreamPair(), {name: 'x', inputSchema: schema, outputSchema: schema}), [
		{name: 'x', inputSchema: same, outputSchema: same},
	]);
});

test('counts and logs once capabilities that the stateless schema cannot carry', async t => {
	const pair = statelessUpstreamPair({clientCapabilities: {experimental: {x: {a: null}}}});
	pair.client.send({id: 1, method: 'tools/list'});
	for (const validator of validators)
		t.deepEqual(validator.violations(STATELESS, lastOf(pair.upstream), {method: 'tools/list'}), []);
	t.deepEqual([...pair.session.losses], [['null and fractions in capabilities', 1]]);
	const lost = (await pair.entries()).filter(({event}) => event === 'proxy.feature.lost');
	t.is(lost.length, 1);
});
