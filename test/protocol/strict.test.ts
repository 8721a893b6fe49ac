import test from 'ava';
import type {JsonObject} from '../../lib/protocol/json.js';
import {type Kind, Translator} from '../../lib/protocol/translate.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';

/** What a strict translation to a client of this version, or to such a server, makes of something. */
function strictly(to: HandshakeVersion, kind: Kind, method: string, value: JsonObject): JsonObject {
	const isUp = kind === 'request';
	const faces = isUp
		? {client: '2025-11-25' as const, upstream: to}
		: {client: to, upstream: '2025-11-25' as const};
	const member = kind === 'result' ? 'result' : 'params';
	const translator = new Translator({...faces, isStrict: true});
	const outcome = translator.translate(
		isUp ? 'toUpstream' : 'toClient',
		kind,
		method,
		{[member]: value},
		'1',
	);
	return (outcome?.on?.[member] ?? value) as JsonObject;
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
