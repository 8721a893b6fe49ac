import test from 'ava';
import {type MessageKind, Translator} from '../../lib/protocol/translator.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {envelope, lastOf, versioned} from '../helpers/version-stages.js';
import {ready} from '../operators/stateless-support.js';

/** The value after strict translation to a client, or to a server, of this version. */
function strictly(
	to: HandshakeVersion,
	kind: MessageKind,
	method: string,
	value: JsonObject,
	{isUp = kind === 'request', from = '2025-11-25' as HandshakeVersion} = {},
): JsonObject {
	const faces = isUp ? {client: from, upstream: to} : {client: to, upstream: from};
	const member = kind === 'result' ? 'result' : 'params';
	const translator = new Translator({...faces, isStrict: true});
	const outcome = translator.translate(
		isUp ? 'toUpstream' : 'toClient',
		kind,
		method,
		{[member]: value},
		'1',
	);
	return (outcome?.forward?.[member] ?? value) as JsonObject;
}

const input = {inputSchema: {type: 'object'}};
const newer = {title: 'T', icons: [], _meta: {}};

test('removes the members of a tool that older versions do not have', t => {
	const tool = {
		name: 'x',
		...input,
		...newer,
		outputSchema: {},
		execution: {},
		annotations: {readOnlyHint: true},
	};
	const receivedBy = (to: HandshakeVersion): unknown =>
		strictly(to, 'result', 'tools/list', {tools: [tool, 5]}).tools;
	const {icons: _icons, execution: _execution, ...before2025Nov} = tool;
	t.deepEqual(receivedBy('2025-06-18'), [before2025Nov, 5]);
	t.deepEqual(receivedBy('2025-03-26'), [
		{name: 'x', ...input, annotations: {readOnlyHint: true, title: 'T'}},
		5,
	]);
	t.deepEqual(receivedBy('2024-11-05'), [{name: 'x', ...input}, 5]);
});

test('removes structured output with its schema, and sends it as text', t => {
	const result = strictly('2025-03-26', 'result', 'tools/call', {content: [], structuredContent: {a: 1}});
	t.deepEqual(result, {content: [{type: 'text', text: '{"a":1}'}]});
});

test('removes _meta and new annotations from content', t => {
	const block = {
		type: 'text',
		text: 'a',
		_meta: {},
		annotations: {priority: 1, lastModified: '2025-01-01T00:00:00Z'},
	};
	const older = {type: 'text', text: 'a', annotations: {priority: 1}};
	t.deepEqual(strictly('2025-03-26', 'result', 'tools/call', {content: [block]}).content, [older]);
	const messages = [
		{role: 'user', content: block},
		{role: 'user', content: 5},
	];
	t.deepEqual(strictly('2025-03-26', 'result', 'prompts/get', {messages}).messages, [
		{role: 'user', content: older},
		{role: 'user', content: 5},
	]);
});

test('removes new members from resources, templates and resource contents', t => {
	const annotations = {lastModified: '2025-01-01T00:00:00Z'};
	const item = {uri: 'a:', ...newer, annotations};
	for (const [method, member] of [
		['resources/list', 'resources'],
		['resources/templates/list', 'resourceTemplates'],
	] as const)
		t.deepEqual(strictly('2024-11-05', 'result', method, {[member]: [item]})[member], [
			{uri: 'a:', annotations: {}},
		]);
	t.deepEqual(
		strictly('2024-11-05', 'result', 'resources/read', {contents: [{uri: 'a:', _meta: {}}]}).contents,
		[{uri: 'a:'}],
	);
});

test('removes titles from prompts and their arguments', t => {
	const prompts = [{name: 'p', ...newer, arguments: [{name: 'a', title: 'A'}]}, {name: 'q'}];
	t.deepEqual(strictly('2024-11-05', 'result', 'prompts/list', {prompts}).prompts, [
		{name: 'p', arguments: [{name: 'a'}]},
		{name: 'q'},
	]);
});

test('removes new members from clientInfo and serverInfo', t => {
	const info = {name: 'n', version: '1', title: 'T', icons: [], websiteUrl: 'w', description: 'd'};
	const older = {name: 'n', version: '1'};
	t.deepEqual(strictly('2025-03-26', 'result', 'initialize', {serverInfo: info}).serverInfo, older);
	t.deepEqual(strictly('2025-03-26', 'request', 'initialize', {clientInfo: info}).clientInfo, older);
	t.deepEqual(strictly('2025-06-18', 'request', 'initialize', {clientInfo: info}).clientInfo, {
		...older,
		title: 'T',
	});
});

test('removes the context of a completion and the title of its reference', t => {
	const params = {ref: {type: 'ref/prompt', name: 'p', title: 'P'}, argument: {}, context: {}};
	t.deepEqual(strictly('2025-03-26', 'request', 'completion/complete', params), {
		ref: {type: 'ref/prompt', name: 'p'},
		argument: {},
	});
});

test('removes the message of progress only for 2024-11-05', t => {
	const params = {progress: 1, message: 'm'};
	t.deepEqual(strictly('2024-11-05', 'notification', 'notifications/progress', params), {progress: 1});
	t.is(strictly('2025-03-26', 'notification', 'notifications/progress', params), params);
});

test('returns a value without new members as the same object', t => {
	for (const [method, value] of [
		['tools/list', {tools: [{name: 'x', ...input}]}],
		['resources/list', {resources: [{uri: 'a:'}]}],
		['initialize', {serverInfo: 'x', capabilities: {}}],
		['prompts/list', {prompts: 'none'}],
	] as const)
		t.is<JsonObject, JsonObject>(strictly('2024-11-05', 'result', method, value), value);
});

test('removes _meta from embedded resources', t => {
	const block = {type: 'resource', resource: {uri: 'a:', text: '', _meta: {}}};
	t.deepEqual(strictly('2025-03-26', 'result', 'tools/call', {content: [block]}).content, [
		{type: 'resource', resource: {uri: 'a:', text: ''}},
	]);
});

test('removes _meta from the content of sampling requests and results', t => {
	const [block, older] = [
		{type: 'text', text: 'a', _meta: {}},
		{type: 'text', text: 'a'},
	];
	const messages = [{role: 'user', content: block}];
	const request = strictly('2025-03-26', 'request', 'sampling/createMessage', {messages}, {isUp: false});
	t.deepEqual(request.messages, [{role: 'user', content: older}]);
	const result = strictly(
		'2025-03-26',
		'result',
		'sampling/createMessage',
		{content: block, role: 'user'},
		{isUp: true},
	);
	t.deepEqual(result, {content: older, role: 'user'});
});

test('removes _meta from roots', t => {
	const roots = [{uri: 'file:///a', _meta: {}}];
	const options = {isUp: true};
	t.deepEqual(strictly('2025-03-26', 'result', 'roots/list', {roots}, options).roots, [{uri: 'file:///a'}]);
	t.deepEqual(strictly('2025-06-18', 'result', 'roots/list', {roots}, options).roots, roots);
});

for (const from of ['2024-11-05', '2025-06-18'] as const)
	test(`removes members that a ${from} server should not send`, t => {
		const tool = {name: 'x', ...input, title: 'T', icons: []};
		t.deepEqual(strictly('2025-06-18', 'result', 'tools/list', {tools: [tool]}, {from}).tools, [
			{name: 'x', ...input, title: 'T'},
		]);
	});

const taskTool = {name: 'x', ...input, icons: [], execution: {taskSupport: 'optional'}};

for (const isStrict of [true, false]) {
	const effect = isStrict ? 'removes' : 'forwards';
	const mode = isStrict ? 'in strict mode' : 'without strict mode';

	test(`${effect} unknown members between equal versions ${mode}`, t => {
		const pair = ready({client: '2025-06-18', server: '2025-06-18'}, {isStrict});
		pair.client.send({id: 1, method: 'tools/list'});
		pair.upstream.send({id: 1, result: {tools: [taskTool]}});
		const {icons: _icons, execution: _execution, ...older} = taskTool;
		t.deepEqual(objectOf(lastOf(pair.client).result).tools, [isStrict ? older : taskTool]);
	});

	test(`removes the members that 2026-07-28 dropped ${mode} [A-D17]`, t => {
		const pair = ready({client: '2026-07-28', server: '2025-11-25'}, {isStrict});
		pair.client.send({id: 1, method: 'tools/list', params: {_meta: envelope()}});
		pair.upstream.send({id: 1, result: {tools: [taskTool]}});
		const {execution: _execution, ...stateless} = taskTool;
		t.deepEqual(objectOf(lastOf(pair.client).result).tools, [stateless]);
	});

	test(`${effect} client information unknown to the server ${mode}`, t => {
		const pair = versioned({isStrict, targetVersion: '2024-11-05'});
		const clientInfo = {name: 'n', version: '1', icons: []};
		const params = {protocolVersion: '2024-11-05', capabilities: {}, clientInfo};
		pair.client.send({id: 1, method: 'initialize', params});
		const {icons: _icons, ...older} = clientInfo;
		t.deepEqual(objectOf(lastOf(pair.upstream).params).clientInfo, isStrict ? older : clientInfo);
	});
}
