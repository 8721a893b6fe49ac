import test from 'ava';
import fc from 'fast-check';
import {messagesOf, methodsOf, type Sample, samplesOf} from '../helpers/mcp-arbitrary.js';
import {type McpVersion, type Sender, versions} from '../helpers/mcp-version.js';
import {hasSchemas, schemaRules} from '../helpers/validity/json-schema.js';
import {sdkRules, type Validator, validators} from '../helpers/validity/validators.js';
import {envelope} from '../helpers/version-stages.js';

const senders = ['client', 'server'] as const;
const otherThan = (sender: Sender): Sender => (sender === 'client' ? 'server' : 'client');

const sorted = (names: Iterable<string>): string[] => [...names].sort((a, b) => a.localeCompare(b));

function mustBeValid(validator: Validator, version: McpVersion, {message, method, definition}: Sample): void {
	const violations = validator.violations(version, message, definition ? {method, definition} : {method});
	if (violations.length > 0) throw new Error(`${violations.join('\n')}\nin ${JSON.stringify(message)}`);
}

for (const validator of validators)
	for (const version of versions)
		for (const sender of senders) {
			test(`${version}: generated messages of a ${sender} are valid (${validator.name})`, t => {
				fc.assert(
					fc.property(messagesOf(version, sender), sample => mustBeValid(validator, version, sample)),
					{numRuns: 300},
				);
				t.pass();
			});

			test(`${version}: generated messages of each method of a ${sender} are valid (${validator.name})`, t => {
				for (const [kind, byMethod] of Object.entries(samplesOf(version, sender)))
					for (const [method, messages] of byMethod)
						fc.assert(
							fc.property(messages, sample => {
								t.like(sample, {kind, method, sender});
								mustBeValid(validator, version, sample);
							}),
							{numRuns: 20},
						);
			});
		}

const allMethods = (version: McpVersion): string[] =>
	senders.flatMap(sender => Object.values(methodsOf(version, sender)).flat());

for (const version of versions) {
	test(`${version}: the SDK has the generated methods and no other`, t => {
		const own = new Set(allMethods(version));
		for (const method of versions.flatMap(allMethods))
			t.is(sdkRules[version].hasMethod(method), own.has(method), method);
	});

	for (const sender of senders)
		test(`${version}: generated responses of a ${sender} cover the requests of the other side`, t => {
			const {result, error} = samplesOf(version, sender);
			const {requests} = methodsOf(version, otherThan(sender));
			t.deepEqual(sorted(result.keys()), sorted(requests));
			t.deepEqual(sorted(error.keys()), sorted(requests));
		});

	if (hasSchemas)
		for (const sender of senders)
			test(`${version}: the JSON schema has the generated methods of a ${sender} and no other`, t => {
				const rules = schemaRules(version);
				const {requests, notifications} = methodsOf(version, sender);
				t.deepEqual(sorted(requests), sorted(rules.methodsOf(sender, 'Request').keys()));
				t.deepEqual(sorted(notifications), sorted(rules.methodsOf(sender, 'Notification').keys()));
			});
}

/** Samples of every kind and method. The seed is fixed, because the tests check coverage. */
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
	test(`${version}: messages are equal after serialization and parsing`, t => {
		for (const {message} of someOf(version, 5)) t.deepEqual(JSON.parse(JSON.stringify(message)), message);
	});

/** The first and the last version with each member. An unknown member is valid in all versions. */
const lifetimes: ReadonlyArray<readonly [McpVersion, McpVersion, readonly string[]]> = [
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

const contentTypes: ReadonlyArray<readonly [McpVersion, readonly string[]]> = [
	['2024-11-05', ['text', 'image', 'resource']],
	['2025-03-26', ['audio']],
	['2025-06-18', ['resource_link']],
	['2025-11-25', ['tool_use', 'tool_result']],
];

for (const version of versions)
	test(`${version}: messages have all members of the version, and none of another`, t => {
		const members = new Set<string>();
		const types = new Set<unknown>();
		for (const {message} of someOf(version, 60))
			eachObject(message, object => {
				for (const key of Object.keys(object)) members.add(key);
				types.add(object.type);
			});
		for (const [first, last, names] of lifetimes)
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
const statelessResult = {resultType: 'complete'};
const statelessParams = {_meta: envelope()};

/** Invalid messages. Responses are validated as responses to a call. */
const invalid: ReadonlyArray<readonly [string, McpVersion, unknown, RegExp]> = [
	['a wrong type', '2025-06-18', callResult('text'), /content/],
	['a result without its members', '2024-11-05', {jsonrpc: '2.0', id: 1, result: {}}, /content/],
	['a block without its members', '2025-11-25', callResult([{type: 'text'}]), /content\/0/],
	['an unknown type of content', '2026-07-28', callResult([{type: 'video'}], statelessResult), /content/],
	['audio before 2025-03-26', '2024-11-05', callResult([audio]), /content/],
	['a resource link before 2025-06-18', '2025-03-26', callResult([link]), /content/],
	['a result without resultType', '2026-07-28', callResult([]), /resultType/],
	[
		'structured content that is not an object',
		'2025-11-25',
		callResult([], {structuredContent: []}),
		/structuredContent/,
	],
	['a null id', '2025-11-25', {...callResult([]), id: null}, /\bid\b/],
	['neither a response nor a request', '2025-11-25', {jsonrpc: '2.0', id: 1}, /neither/],
	['a message without jsonrpc', '2024-11-05', {id: 1, result: {content: []}}, /jsonrpc/],
	[
		'a notification without jsonrpc',
		'2026-07-28',
		{method: 'notifications/cancelled', params: {requestId: 1}},
		/jsonrpc|JSON-RPC/,
	],
	[
		'an id that is an object',
		'2026-07-28',
		{jsonrpc: '2.0', id: {}, method: 'tools/list', params: statelessParams},
		/\bid\b|JSON-RPC/,
	],
	['an error without a code', '2025-06-18', {jsonrpc: '2.0', id: 1, error: {message: ''}}, /code/],
	['an error without an id', '2025-06-18', {jsonrpc: '2.0', error: {code: 1, message: ''}}, /\bid\b/],
	[
		'a method of a later version',
		'2025-03-26',
		{jsonrpc: '2.0', id: 1, method: 'elicitation/create'},
		/has no/,
	],
	['a method of an earlier version', '2026-07-28', {jsonrpc: '2.0', id: 1, method: 'ping'}, /has no/],
	['a server request', '2026-07-28', {jsonrpc: '2.0', id: 1, method: 'roots/list'}, /has no/],
	['a request without an id', '2025-06-18', {jsonrpc: '2.0', method: 'ping'}, /sent as a notification/],
	['a request without params', '2026-07-28', {jsonrpc: '2.0', id: 1, method: 'tools/list'}, /params|_meta/],
	['a string instead of a message', '2024-11-05', '{}', /not an object/],
];

for (const validator of validators) {
	const {violations} = validator;

	for (const [name, version, message, violation] of invalid)
		test(`rejects ${name} in ${version} (${validator.name})`, t => {
			t.regex(violations(version, message, call).join('\n'), violation);
		});

	test(`accepts messages in the versions that define them (${validator.name})`, t => {
		t.deepEqual(violations('2025-03-26', callResult([audio]), call), []);
		t.deepEqual(violations('2025-06-18', callResult([audio, link]), call), []);
		t.deepEqual(
			violations('2026-07-28', callResult([], {...statelessResult, structuredContent: []}), call),
			[],
		);
		t.deepEqual(violations('2025-11-25', {jsonrpc: '2.0', error: {code: 1, message: ''}}), []);
		t.deepEqual(violations('2025-06-18', {jsonrpc: '2.0', id: 1, method: 'ping'}), []);
		t.deepEqual(
			violations('2026-07-28', {jsonrpc: '2.0', id: 1, method: 'tools/list', params: statelessParams}),
			[],
		);
	});

	test(`rejects a result of an unknown request (${validator.name})`, t => {
		t.regex(violations('2025-06-18', callResult([])).join(), /unknown request/);
		t.regex(violations('2024-11-05', callResult([]), {method: 'tasks/get'}).join(), /no request tasks\/get/);
	});

	test(`accepts input_required for some requests only, and not before 2026-07-28 (${validator.name})`, t => {
		const result = {jsonrpc: '2.0', id: 1, result: {resultType: 'input_required', requestState: 'a'}};
		t.deepEqual(violations('2026-07-28', result, call), []);
		t.not(violations('2026-07-28', result, {method: 'tools/list'}).length, 0);
		t.not(violations('2024-11-05', result, call).length, 0);
	});

	test(`accepts a batch in 2025-03-26 only, not empty, not mixed, without initialize (${validator.name})`, t => {
		const ping = {jsonrpc: '2.0', id: 1, method: 'ping'};
		const response = {jsonrpc: '2.0', id: 2, result: {}};
		const pinged = new Map([[2, {method: 'ping'}]]);
		for (const version of versions) {
			const found = violations(version, [ping, {jsonrpc: '2.0', method: 'notifications/initialized'}]);
			t.deepEqual(found, version === '2025-03-26' ? [] : [`${version} has no batches`]);
		}
		t.deepEqual(violations('2025-03-26', [response], pinged), []);
		t.regex(violations('2025-03-26', []).join(), /empty/);
		t.regex(violations('2025-03-26', [ping, response], pinged).join(), /mixes/);
		const [initialize] = fc.sample(
			samplesOf('2025-03-26', 'client').request.get('initialize') ?? fc.constant(undefined),
			1,
		);
		t.deepEqual(violations('2025-03-26', [ping, initialize?.message]), ['the batch contains initialize']);
	});
}
