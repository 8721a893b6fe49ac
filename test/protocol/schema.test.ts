import test from 'ava';
import fc from 'fast-check';
import {messagesOf, type Sample, samplesOf} from '../helpers/mcp-arbitrary.js';
import {type McpVersion, methodsOf, problemsOf, type Sender, versions} from '../helpers/mcp-schema.js';

const senders = ['client', 'server'] as const;
const otherThan = (sender: Sender): Sender => (sender === 'client' ? 'server' : 'client');

const inOrder = (names: Iterable<string>): string[] => [...names].sort((a, b) => a.localeCompare(b));

/** Fails with what is wrong, and with the message it is wrong in. */
function mustBeValid(version: McpVersion, {message, method, definition}: Sample): void {
	const problems = problemsOf(version, message, definition ? {method, definition} : {method});
	if (problems.length > 0) throw new Error(`${problems.join('\n')}\nin ${JSON.stringify(message)}`);
}

for (const version of versions)
	for (const sender of senders) {
		test(`${version}: what a ${sender} may send is valid`, t => {
			fc.assert(
				fc.property(messagesOf(version, sender), sample => mustBeValid(version, sample)),
				{numRuns: 300},
			);
			t.pass();
		});

		test(`${version}: all that a ${sender} may send is there, and valid`, t => {
			const samples = samplesOf(version, sender);
			const {requests, notifications} = methodsOf(version, sender);
			const answered = inOrder(methodsOf(version, otherThan(sender)).requests);
			t.deepEqual(inOrder(samples.request.keys()), inOrder(requests));
			t.deepEqual(inOrder(samples.notification.keys()), inOrder(notifications));
			t.deepEqual(inOrder(samples.result.keys()), answered);
			t.deepEqual(inOrder(samples.error.keys()), answered);
			for (const [kind, byMethod] of Object.entries(samples))
				for (const [method, messages] of byMethod)
					fc.assert(
						fc.property(messages, sample => {
							t.like(sample, {kind, method, sender});
							mustBeValid(version, sample);
						}),
						{numRuns: 20},
					);
		});
	}

/** Some of every kind and method, and the same ones every time, as this is about what is there at all. */
const someOf = (version: McpVersion, numRuns: number): Sample[] =>
	senders
		.flatMap(sender => Object.values(samplesOf(version, sender)))
		.flatMap(byMethod => [...byMethod.values()])
		.flatMap(messages => fc.sample(messages, {numRuns, seed: 1}));

/** Calls back for every object in a value, itself included. */
function eachObject(value: unknown, found: (object: {[key: string]: unknown}) => void): void {
	if (typeof value !== 'object' || value === null) return;
	if (!Array.isArray(value)) found(value as {[key: string]: unknown});
	for (const inner of Object.values(value)) eachObject(inner, found);
}

for (const version of versions)
	test(`${version}: messages are the same after they were written and read`, t => {
		for (const {message} of someOf(version, 5)) t.deepEqual(JSON.parse(JSON.stringify(message)), message);
	});

/** Members by the versions that have them, the first and the last. An unknown member is valid in all. */
const lives: ReadonlyArray<readonly [McpVersion, McpVersion, readonly string[]]> = [
	['2024-11-05', '2025-11-25', ['protocolVersion', 'clientInfo']],
	['2025-03-26', '2026-07-28', ['completions', 'readOnlyHint', 'openWorldHint']],
	['2025-06-18', '2026-07-28', ['structuredContent', 'outputSchema', 'lastModified', 'requestedSchema']],
	['2025-06-18', '2026-07-28', ['elicitation', 'enumNames', 'context']],
	['2025-11-25', '2026-07-28', ['icons', 'websiteUrl', 'toolChoice', 'toolUseId', 'url', 'oneOf']],
	['2025-11-25', '2025-11-25', ['task', 'taskId', 'execution', 'elicitationId', 'elicitations', 'tasks']],
	['2026-07-28', '2026-07-28', ['resultType', 'ttlMs', 'cacheScope', 'extensions', 'supportedVersions']],
	['2026-07-28', '2026-07-28', ['inputRequests', 'inputResponses', 'requestState', 'resourceSubscriptions']],
	['2026-07-28', '2026-07-28', ['io.modelcontextprotocol/protocolVersion']],
	['2026-07-28', '2026-07-28', ['io.modelcontextprotocol/subscriptionId']],
];

/** The types of content by the version that has brought them. */
const contentTypes: ReadonlyArray<readonly [McpVersion, readonly string[]]> = [
	['2024-11-05', ['text', 'image', 'resource']],
	['2025-03-26', ['audio']],
	['2025-06-18', ['resource_link']],
	['2025-11-25', ['tool_use', 'tool_result']],
];

for (const version of versions)
	test(`${version}: messages have what the version has, and nothing of another`, t => {
		const members = new Set<string>();
		const types = new Set<unknown>();
		for (const {message} of someOf(version, 60))
			eachObject(message, object => {
				for (const key of Object.keys(object)) members.add(key);
				types.add(object.type);
			});
		for (const [first, last, names] of lives)
			for (const name of names) t.is(members.has(name), version >= first && version <= last, name);
		for (const [first, names] of contentTypes)
			for (const name of names) t.is(types.has(name), version >= first, name);
	});

const callResult = (content: unknown, more: object = {}): object => ({
	jsonrpc: '2.0',
	id: 1,
	result: {content, ...more},
});
const call = {method: 'tools/call'};
const link = {type: 'resource_link', uri: 'file:///a', name: 'a'};
const audio = {type: 'audio', data: 'AA==', mimeType: 'audio/wav'};
const modern = {resultType: 'complete'};

for (const [name, version, message, problem] of [
	['a wrong type', '2025-06-18', callResult('text'), /content must be array/],
	['a missing member', '2024-11-05', {jsonrpc: '2.0', id: 1, result: {}}, /'content'/],
	['a member missing in a block', '2025-11-25', callResult([{type: 'text'}]), /'text'/],
	['a type of content nobody has', '2026-07-28', callResult([{type: 'video'}], modern), /content\/0/],
	['audio before its time', '2024-11-05', callResult([audio]), /content\/0/],
	['a link before its time', '2025-03-26', callResult([link]), /content\/0/],
	['a result without its type', '2026-07-28', callResult([]), /'resultType'/],
	['structured content that is no object', '2025-11-25', callResult([], {structuredContent: []}), /object/],
	['an id that is null', '2025-11-25', {...callResult([]), id: null}, /id must be/],
	['no answer and no request', '2025-11-25', {jsonrpc: '2.0', id: 1}, /neither/],
	['no JSON-RPC', '2024-11-05', {id: 1, result: {content: []}}, /'jsonrpc'/],
	['an error without a code', '2025-06-18', {jsonrpc: '2.0', id: 1, error: {message: ''}}, /'code'/],
	['an error without an id', '2025-06-18', {jsonrpc: '2.0', error: {code: 1, message: ''}}, /'id'/],
	[
		'a method that is not yet',
		'2025-03-26',
		{jsonrpc: '2.0', id: 1, method: 'elicitation/create'},
		/no method/,
	],
	['a method that is no more', '2026-07-28', {jsonrpc: '2.0', id: 1, method: 'ping'}, /no method/],
	['a server request', '2026-07-28', {jsonrpc: '2.0', id: 1, method: 'roots/list'}, /no method/],
	['a request without an id', '2025-06-18', {jsonrpc: '2.0', method: 'ping'}, /sent as a notification/],
	['a request without its envelope', '2026-07-28', {jsonrpc: '2.0', id: 1, method: 'tools/list'}, /'params'/],
	['a text instead of a message', '2024-11-05', '{}', /not an object/],
] as const)
	test(`${name} is found in ${version}`, t => {
		t.regex(problemsOf(version, message, call).join('\n'), problem);
	});

test('the same messages are valid where they belong', t => {
	t.deepEqual(problemsOf('2025-03-26', callResult([audio]), call), []);
	t.deepEqual(problemsOf('2025-06-18', callResult([audio, link]), call), []);
	t.deepEqual(problemsOf('2026-07-28', callResult([], {...modern, structuredContent: []}), call), []);
	t.deepEqual(problemsOf('2025-11-25', {jsonrpc: '2.0', error: {code: 1, message: ''}}), []);
	t.deepEqual(problemsOf('2025-06-18', {jsonrpc: '2.0', id: 1, method: 'ping'}), []);
});

test('a result that nobody has asked for cannot be valid', t => {
	t.regex(problemsOf('2025-06-18', callResult([])).join(), /which request/);
	t.regex(problemsOf('2024-11-05', callResult([]), {method: 'tasks/get'}).join(), /no request tasks\/get/);
});

test('a question is an answer to some requests only, and not before 2026-07-28', t => {
	const result = {jsonrpc: '2.0', id: 1, result: {resultType: 'input_required', requestState: 'a'}};
	t.deepEqual(problemsOf('2026-07-28', result, call), []);
	t.not(problemsOf('2026-07-28', result, {method: 'tools/list'}).length, 0);
	t.not(problemsOf('2025-11-25', result, call).length, 0);
});

test('a batch is valid in 2025-03-26 only, and neither empty nor mixed nor with initialize', t => {
	const ping = {jsonrpc: '2.0', id: 1, method: 'ping'};
	const answer = {jsonrpc: '2.0', id: 2, result: {}};
	const pinged = new Map([[2, {method: 'ping'}]]);
	for (const version of versions) {
		const problems = problemsOf(version, [ping, {jsonrpc: '2.0', method: 'notifications/initialized'}]);
		t.deepEqual(problems, version === '2025-03-26' ? [] : [`${version} has no batches`]);
	}
	t.deepEqual(problemsOf('2025-03-26', [answer], pinged), []);
	t.regex(problemsOf('2025-03-26', []).join(), /empty/);
	t.regex(problemsOf('2025-03-26', [ping, answer], pinged).join(), /mixes/);
	const [initialize] = fc.sample(
		samplesOf('2025-03-26', 'client').request.get('initialize') ?? fc.constant(undefined),
		1,
	);
	t.deepEqual(problemsOf('2025-03-26', [ping, initialize?.message]), ['initialize is in a batch']);
});
