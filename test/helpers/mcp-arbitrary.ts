import fc from 'fast-check';
import {failuresOf} from './mcp-arbitrary/errors.js';
import {clientNotifications, serverNotifications} from './mcp-arbitrary/notifications.js';
import {
	clientRequests,
	inputRequests,
	type ParamsByMethod,
	serverRequests,
} from './mcp-arbitrary/requests.js';
import {clientResults, serverResults, statelessMeta, taskCreated} from './mcp-arbitrary/results.js';
import {id, type Members, objectOf, since, text, type Values} from './mcp-arbitrary/values.js';
import type {McpVersion, Sender} from './mcp-version.js';

/** A valid message, with the data that identifies it. */
export type Sample = {
	readonly message: object;
	/** The method of the message, or of the request that it responds to. */
	readonly method: string;
	readonly kind: 'request' | 'notification' | 'result' | 'error';
	readonly sender: Sender;
	/** The definition of a response, if its method does not determine it. */
	readonly definition?: string;
};

type Samples = fc.Arbitrary<Sample>;
type Head = Omit<Sample, 'message'>;

/** Rotates the members of an object. No receiver may depend on their order. */
const rotated = (message: Members, by: number): Members => {
	const members = Object.entries(message);
	return Object.fromEntries([...members.slice(by), ...members.slice(0, by)]);
};

const sampleOf = (head: Head, members: fc.Arbitrary<Members>): Samples =>
	fc.tuple(members, fc.nat({max: 3})).map(([all, by]) => {
		const present = Object.entries(all).filter(([, value]) => value !== undefined);
		return {...head, message: rotated({jsonrpc: '2.0', ...Object.fromEntries(present)}, by)};
	});

const idMember = {id};

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

/** The methods whose result may require input, and those whose result may be a task. */
const mayNeedInput: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
const mayBeTask: ReadonlySet<string> = new Set([
	'tools/call',
	'sampling/createMessage',
	'elicitation/create',
]);

/** A result that requires input. It has at least one input request, or a state, or both. */
function inputRequired(version: McpVersion): Values {
	const resultType = fc.constant('input_required');
	const state = {requestState: text};
	const own = {_meta: statelessMeta(version)};
	return fc.oneof(
		objectOf({resultType, inputRequests: inputRequests(version, 1)}, {...state, ...own}),
		objectOf({resultType, ...state}, {inputRequests: inputRequests(version), ...own}),
	);
}

/** The result that ends a subscription. Its subscription id is the id of its request. */
const subscriptionEnd = (version: McpVersion): fc.Arbitrary<Members> =>
	fc.tuple(id, statelessMeta(version)).map(([of, meta]) => ({
		id: of,
		result: {resultType: 'complete', _meta: {...meta, 'io.modelcontextprotocol/subscriptionId': of}},
	}));

/** The results of a side, by the method of their request. */
function results(version: McpVersion, sender: Sender): Map<string, Samples> {
	const table = sender === 'client' ? clientResults(version) : serverResults(version);
	const inputResult = since(version, '2026-07-28') ? inputRequired(version) : undefined;
	const all = Object.entries(table).map(([method, result]): [string, Samples] => {
		const head: Head = {method, kind: 'result', sender};
		if (method === 'subscriptions/listen') return [method, sampleOf(head, subscriptionEnd(version))];
		const usual = sampleOf(head, objectOf({id, result}));
		if (inputResult && mayNeedInput.has(method))
			return [method, fc.oneof(usual, sampleOf(head, objectOf({id, result: inputResult})))];
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

/** The errors of a side, by the method of their request. Since 2025-11-25, an error may have no id. */
function errors(version: McpVersion, sender: Sender): Map<string, Samples> {
	const requests = sender === 'client' ? serverRequests(version) : clientRequests(version);
	const mayLackId = since(version, '2025-11-25');
	const responseId = mayLackId ? fc.option(id, {nil: undefined, freq: 20}) : id;
	return new Map(
		Object.keys(requests).map(method => {
			const head: Head = {method, kind: 'error', sender};
			const all = failuresOf(version, sender, method).map(({error, definition}) =>
				sampleOf(definition ? {...head, definition} : head, objectOf({id: responseId, error})),
			);
			return [method, fc.oneof(...all)];
		}),
	);
}

/** All messages that a side may send in a version, by kind and method. */
export function samplesOf(version: McpVersion, sender: Sender): SamplesByKind {
	const key = `${version} ${sender}`;
	const samples = cache.get(key) ?? makeSamples(version, sender);
	cache.set(key, samples);
	return samples;
}

type SamplesByKind = {readonly [kind in Sample['kind']]: ReadonlyMap<string, Samples>};

/** The samples of each side. Creating them takes longer than drawing a few. */
const cache = new Map<string, SamplesByKind>();

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

export function methodsOf(
	version: McpVersion,
	sender: Sender,
): {requests: string[]; notifications: string[]} {
	const {request, notification} = samplesOf(version, sender);
	return {requests: [...request.keys()], notifications: [...notification.keys()]};
}

/** The frequency of each kind. Results differ most between versions. */
const weights = {request: 4, notification: 2, result: 5, error: 1} as const;

export function messagesOf(version: McpVersion, sender: Sender): fc.Arbitrary<Sample> {
	const samples = samplesOf(version, sender);
	const kinds = (['request', 'notification', 'result', 'error'] as const).filter(
		kind => samples[kind].size > 0,
	);
	return fc.oneof(
		...kinds.map(kind => ({arbitrary: fc.oneof(...samples[kind].values()), weight: weights[kind]})),
	);
}
