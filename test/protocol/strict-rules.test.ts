import test from 'ava';
import {type MessageKind, Translator} from '../../lib/protocol/translator.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {envelope, lastOf, versioned} from '../helpers/version-stages.js';
import {ready} from '../operators/stateless-support.js';

/** What a strict translation to a client of this version, or to such a server, makes of something. */
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

test('a tool loses what each version before did not have', t => {
	const tool = {
		name: 'x',
		...input,
		...newer,
		outputSchema: {},
		execution: {},
		annotations: {readOnlyHint: true},
	};
	const seenBy = (to: HandshakeVersion): unknown =>
		strictly(to, 'result', 'tools/list', {tools: [tool, 5]}).tools;
	const {icons: _icons, execution: _execution, ...before2025Nov} = tool;
	t.deepEqual(seenBy('2025-06-18'), [before2025Nov, 5]);
	t.deepEqual(seenBy('2025-03-26'), [
		{name: 'x', ...input, annotations: {readOnlyHint: true, title: 'T'}},
		5,
	]);
	t.deepEqual(seenBy('2024-11-05'), [{name: 'x', ...input}, 5]);
});

test('structured output goes with its schema, and stands as text', t => {
	const result = strictly('2025-03-26', 'result', 'tools/call', {content: [], structuredContent: {a: 1}});
	t.deepEqual(result, {content: [{type: 'text', text: '{"a":1}'}]});
});

test('content loses its meta and new annotations', t => {
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

test('resources, templates and their contents lose what is new', t => {
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

test('prompts lose titles, also those of their arguments', t => {
	const prompts = [{name: 'p', ...newer, arguments: [{name: 'a', title: 'A'}]}, {name: 'q'}];
	t.deepEqual(strictly('2024-11-05', 'result', 'prompts/list', {prompts}).prompts, [
		{name: 'p', arguments: [{name: 'a'}]},
		{name: 'q'},
	]);
});

test('both sides lose what is new in who they are', t => {
	const who = {name: 'n', version: '1', title: 'T', icons: [], websiteUrl: 'w', description: 'd'};
	const older = {name: 'n', version: '1'};
	t.deepEqual(strictly('2025-03-26', 'result', 'initialize', {serverInfo: who}).serverInfo, older);
	t.deepEqual(strictly('2025-03-26', 'request', 'initialize', {clientInfo: who}).clientInfo, older);
	t.deepEqual(strictly('2025-06-18', 'request', 'initialize', {clientInfo: who}).clientInfo, {
		...older,
		title: 'T',
	});
});

test('a completion loses its context and the title of what it is for', t => {
	const params = {ref: {type: 'ref/prompt', name: 'p', title: 'P'}, argument: {}, context: {}};
	t.deepEqual(strictly('2025-03-26', 'request', 'completion/complete', params), {
		ref: {type: 'ref/prompt', name: 'p'},
		argument: {},
	});
});

test('progress loses its message only for the first version', t => {
	const params = {progress: 1, message: 'm'};
	t.deepEqual(strictly('2024-11-05', 'notification', 'notifications/progress', params), {progress: 1});
	t.is(strictly('2025-03-26', 'notification', 'notifications/progress', params), params);
});

test('what is already as old as the receiver stays the very object', t => {
	for (const [method, value] of [
		['tools/list', {tools: [{name: 'x', ...input}]}],
		['resources/list', {resources: [{uri: 'a:'}]}],
		['initialize', {serverInfo: 'x', capabilities: {}}],
		['prompts/list', {prompts: 'none'}],
	] as const)
		t.is<JsonObject, JsonObject>(strictly('2024-11-05', 'result', method, value), value);
});

test('resources within content lose their meta', t => {
	const block = {type: 'resource', resource: {uri: 'a:', text: '', _meta: {}}};
	t.deepEqual(strictly('2025-03-26', 'result', 'tools/call', {content: [block]}).content, [
		{type: 'resource', resource: {uri: 'a:', text: ''}},
	]);
});

test('sampling loses the meta of its content, asked and answered', t => {
	const [block, older] = [
		{type: 'text', text: 'a', _meta: {}},
		{type: 'text', text: 'a'},
	];
	const messages = [{role: 'user', content: block}];
	const asked = strictly('2025-03-26', 'request', 'sampling/createMessage', {messages}, {isUp: false});
	t.deepEqual(asked.messages, [{role: 'user', content: older}]);
	const answered = strictly(
		'2025-03-26',
		'result',
		'sampling/createMessage',
		{content: block, role: 'user'},
		{isUp: true},
	);
	t.deepEqual(answered, {content: older, role: 'user'});
});

test('roots lose their meta', t => {
	const roots = [{uri: 'file:///a', _meta: {}}];
	const options = {isUp: true};
	t.deepEqual(strictly('2025-03-26', 'result', 'roots/list', {roots}, options).roots, [{uri: 'file:///a'}]);
	t.deepEqual(strictly('2025-06-18', 'result', 'roots/list', {roots}, options).roots, roots);
});

for (const from of ['2024-11-05', '2025-06-18'] as const)
	test(`what a ${from} server ought not to know itself is removed, too`, t => {
		const tool = {name: 'x', ...input, title: 'T', icons: []};
		t.deepEqual(strictly('2025-06-18', 'result', 'tools/list', {tools: [tool]}, {from}).tools, [
			{name: 'x', ...input, title: 'T'},
		]);
	});

const tasking = {name: 'x', ...input, icons: [], execution: {taskSupport: 'optional'}};

for (const isStrict of [true, false]) {
	const how = isStrict ? 'removed where' : 'passed on unless';

	test(`between equal versions what is unknown is ${how} the server is to be strict`, t => {
		const pair = ready({client: '2025-06-18', server: '2025-06-18'}, {isStrict});
		pair.client.send({id: 1, method: 'tools/list'});
		pair.upstream.send({id: 1, result: {tools: [tasking]}});
		const {icons: _icons, execution: _execution, ...older} = tasking;
		t.deepEqual(objectOf(lastOf(pair.client).result).tools, [isStrict ? older : tasking]);
	});

	test(`what 2026-07-28 has removed is removed, also ${isStrict ? 'where' : 'unless'} the server is to be strict [A-D17]`, t => {
		const pair = ready({client: '2026-07-28', server: '2025-11-25'}, {isStrict});
		pair.client.send({id: 1, method: 'tools/list', params: {_meta: envelope()}});
		pair.upstream.send({id: 1, result: {tools: [tasking]}});
		const {execution: _execution, ...modern} = tasking;
		t.deepEqual(objectOf(lastOf(pair.client).result).tools, [modern]);
	});

	test(`what a server does not know of its client is ${how} it is to be strict`, t => {
		const pair = versioned({isStrict, targetVersion: '2024-11-05'});
		const clientInfo = {name: 'n', version: '1', icons: []};
		const params = {protocolVersion: '2024-11-05', capabilities: {}, clientInfo};
		pair.client.send({id: 1, method: 'initialize', params});
		const {icons: _icons, ...older} = clientInfo;
		t.deepEqual(objectOf(lastOf(pair.upstream).params).clientInfo, isStrict ? older : clientInfo);
	});
}
