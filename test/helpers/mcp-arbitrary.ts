import fc from 'fast-check';
import {failuresOf} from './mcp-arbitrary/errors.js';
import {clientNotifications, serverNotifications} from './mcp-arbitrary/notifications.js';
import {
	clientRequests,
	inputRequests,
	type ParamsByMethod,
	serverRequests,
} from './mcp-arbitrary/requests.js';
import {clientResults, modernMeta, serverResults, taskCreated} from './mcp-arbitrary/results.js';
import {id, type Members, objectOf, since, text, type Values} from './mcp-arbitrary/values.js';
import type {McpVersion, Sender} from './mcp-version.js';

/** A valid message, with what it takes to know what it is. */
export type Sample = {
	readonly message: object;
	/** Its own, or that of the request it answers. */
	readonly method: string;
	readonly kind: 'request' | 'notification' | 'result' | 'error';
	readonly sender: Sender;
	/** The definition of an answer, where the method alone does not tell it. */
	readonly definition?: string;
};

type Samples = fc.Arbitrary<Sample>;
type Head = Omit<Sample, 'message'>;

/** The same object with its members in another order: no reader may depend on it. */
const turned = (message: Members, by: number): Members => {
	const members = Object.entries(message);
	return Object.fromEntries([...members.slice(by), ...members.slice(0, by)]);
};

/** A message of these members; one that is undefined is left out. */
const sampleOf = (head: Head, members: fc.Arbitrary<Members>): Samples =>
	fc.tuple(members, fc.nat({max: 3})).map(([all, by]) => {
		const present = Object.entries(all).filter(([, value]) => value !== undefined);
		return {...head, message: turned({jsonrpc: '2.0', ...Object.fromEntries(present)}, by)};
	});

const idMember = {id};

/** What a side may send of its own accord. */
function calls(
	sender: Sender,
	kind: 'request' | 'notification',
	table: ParamsByMethod,
): Map<string, Samples> {
	const head = kind === 'request' ? idMember : {};
	return new Map(
		Object.entries(table).map(([method, params]) => [
			method,
			sampleOf({method, kind, sender}, objectOf({...head, method: fc.constant(method), params})),
		]),
	);
}

/** The methods that may be answered with a question, and those that may be answered with a task. */
const mayNeedInput: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
const mayBeTask: ReadonlySet<string> = new Set([
	'tools/call',
	'sampling/createMessage',
	'elicitation/create',
]);

/** A result that asks for input: with at least one input request, or with a state, or with both. */
function inputRequired(version: McpVersion): Values {
	const resultType = fc.constant('input_required');
	const state = {requestState: text};
	const own = {_meta: modernMeta(version)};
	return fc.oneof(
		objectOf({resultType, inputRequests: inputRequests(version, 1)}, {...state, ...own}),
		objectOf({resultType, ...state}, {inputRequests: inputRequests(version), ...own}),
	);
}

/** The result that ends a subscription says which one, and that is the id of its request. */
const subscriptionEnd = (version: McpVersion): fc.Arbitrary<Members> =>
	fc.tuple(id, modernMeta(version)).map(([of, meta]) => ({
		id: of,
		result: {resultType: 'complete', _meta: {...meta, 'io.modelcontextprotocol/subscriptionId': of}},
	}));

/** The results of a side, by the method of what they answer. */
function results(version: McpVersion, sender: Sender): Map<string, Samples> {
	const table = sender === 'client' ? clientResults(version) : serverResults(version);
	const questions = since(version, '2026-07-28') ? inputRequired(version) : undefined;
	const all = Object.entries(table).map(([method, result]): [string, Samples] => {
		const head: Head = {method, kind: 'result', sender};
		if (method === 'subscriptions/listen') return [method, sampleOf(head, subscriptionEnd(version))];
		const usual = sampleOf(head, objectOf({id, result}));
		if (questions && mayNeedInput.has(method))
			return [method, fc.oneof(usual, sampleOf(head, objectOf({id, result: questions})))];
		if (version !== '2025-11-25' || !mayBeTask.has(method)) return [method, usual];
		const created = objectOf({id, result: taskCreated(version)});
		return [
			method,
			fc.oneof(
				{arbitrary: usual, weight: 4},
				{arbitrary: sampleOf({...head, definition: 'CreateTaskResult'}, created), weight: 1},
			),
		];
	});
	return new Map(all);
}

/** The refusals of a side, by the method of what they answer. Since 2025-11-25 one may come without an id. */
function errors(version: McpVersion, sender: Sender): Map<string, Samples> {
	const asked = sender === 'client' ? serverRequests(version) : clientRequests(version);
	const mayLackId = since(version, '2025-11-25');
	const answered = mayLackId ? fc.option(id, {nil: undefined, freq: 20}) : id;
	return new Map(
		Object.keys(asked).map(method => {
			const head: Head = {method, kind: 'error', sender};
			const all = failuresOf(version, sender, method).map(({error, definition}) =>
				sampleOf(definition ? {...head, definition} : head, objectOf({id: answered, error})),
			);
			return [method, fc.oneof(...all)];
		}),
	);
}

/** All that a side may send in a version, by kind and by method. */
export function samplesOf(version: McpVersion, sender: Sender): SamplesByKind {
	const key = `${version} ${sender}`;
	const samples = made.get(key) ?? makeSamples(version, sender);
	made.set(key, samples);
	return samples;
}

type SamplesByKind = {readonly [kind in Sample['kind']]: ReadonlyMap<string, Samples>};

/** To make them takes longer than to draw a few, so those of a side are made once. */
const made = new Map<string, SamplesByKind>();

function makeSamples(version: McpVersion, sender: Sender): SamplesByKind {
	const isClient = sender === 'client';
	const requests = isClient ? clientRequests(version) : serverRequests(version);
	const notifications = isClient ? clientNotifications(version) : serverNotifications(version);
	return {
		request: calls(sender, 'request', requests),
		notification: calls(sender, 'notification', notifications),
		result: results(version, sender),
		error: errors(version, sender),
	};
}

/** The methods of the requests and notifications that a side may send. */
export function methodsOf(
	version: McpVersion,
	sender: Sender,
): {requests: string[]; notifications: string[]} {
	const {request, notification} = samplesOf(version, sender);
	return {requests: [...request.keys()], notifications: [...notification.keys()]};
}

/** How often there is a message of each kind: results differ most from version to version. */
const weights = {request: 4, notification: 2, result: 5, error: 1} as const;

/** Any valid message of a side in a version. */
export function messagesOf(version: McpVersion, sender: Sender): fc.Arbitrary<Sample> {
	const samples = samplesOf(version, sender);
	const kinds = (['request', 'notification', 'result', 'error'] as const).filter(
		kind => samples[kind].size > 0,
	);
	return fc.oneof(
		...kinds.map(kind => ({arbitrary: fc.oneof(...samples[kind].values()), weight: weights[kind]})),
	);
}
