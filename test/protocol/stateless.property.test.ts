import test from 'ava';
import fc from 'fast-check';
import {handshakeVersions} from '../../lib/protocol/version.js';
import {objectOf} from '../../lib/util/json.js';
import {clientCapabilities, serverCapabilities} from '../helpers/mcp-arbitrary/features.js';
import {type Sample, samplesOf} from '../helpers/mcp-arbitrary.js';
import type {McpVersion, Sender} from '../helpers/mcp-version.js';
import {type Validator, validators} from '../helpers/validity/validators.js';
import {envelope} from '../helpers/version-stages.js';
import {type Capabilities, Conversation, holds, isInputRequired, STATELESS} from './stateless-client.js';

const RUNS = 30;

const pairs = handshakeVersions.flatMap(version => [
	[STATELESS, version] as const,
	[version, STATELESS] as const,
]);

const capabilitiesOf = (client: McpVersion, server: McpVersion): fc.Arbitrary<Capabilities> =>
	fc.record({client: clientCapabilities(client), server: serverCapabilities(server)});

const sampleOf = (samples: ReadonlyMap<string, fc.Arbitrary<Sample>>, method: string) =>
	samples.get(method) ?? fc.constant(undefined);

/** Whether a result is a task. A client that did not request a task does not get one. */
const isTask = ({definition}: Sample): boolean => definition === 'CreateTaskResult';

/** Sends a request of the client and a response of the server, each in its own version. */
function exchange(
	conversation: Conversation,
	request: Sample,
	response: Sample | undefined,
	validator: Validator,
): void {
	const received = conversation.send('client', request.message);
	const forwarded = received.findLast(({method}) => method === request.method);
	if (forwarded && response && !isTask(response))
		conversation.send('upstream', {
			...response.message,
			...('id' in response.message ? {id: forwarded.id} : {}),
		});
	conversation.check(validator);
}

/** Any request of this method and any response, except results that require input. */
const exchanged = (
	[client, server]: readonly [McpVersion, McpVersion],
	method: string,
	kind: 'result' | 'error',
	validator: Validator,
) =>
	fc.property(
		capabilitiesOf(client, server),
		sampleOf(samplesOf(client, 'client').request, method),
		sampleOf(samplesOf(server, 'server')[kind], method),
		(capabilities, request, response) => {
			if (!request || (response && isInputRequired(response.message))) return;
			exchange(new Conversation(client, server, capabilities), request, response, validator);
		},
	);

for (const validator of validators)
	for (const pair of pairs)
		for (const method of samplesOf(pair[0], 'client').request.keys()) {
			const [client, server] = pair;
			const request = `${method} of a ${client} client`;
			test(`translates ${request} and its result through a ${server} server (${validator.name})`, t => {
				t.notThrows(() => holds(exchanged(pair, method, 'result', validator), RUNS));
			});
			test(`translates an error of a ${server} server for ${request} (${validator.name})`, t => {
				t.notThrows(() => holds(exchanged(pair, method, 'error', validator), RUNS));
			});
		}

/** A conversation with a pending call and an open stream, which notifications can refer to. */
function busy(client: McpVersion, server: McpVersion, capabilities: Capabilities): Conversation {
	const conversation = new Conversation(client, server, capabilities);
	const meta = client === STATELESS ? {_meta: envelope(capabilities.client)} : {};
	conversation.send('client', {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'x', ...meta}});
	const notifications = {toolsListChanged: true, resourceSubscriptions: ['file:///a']};
	if (client === STATELESS)
		conversation.send('client', {
			jsonrpc: '2.0',
			id: 2,
			method: 'subscriptions/listen',
			params: {notifications, ...meta},
		});
	return conversation;
}

/** Any notification of one side, while a call and a stream are open. */
const notified = (
	[client, server]: readonly [McpVersion, McpVersion],
	sender: Sender,
	validator: Validator,
) => {
	const own = sender === 'client' ? client : server;
	const sent = fc.oneof(...samplesOf(own, sender).notification.values());
	return fc.property(capabilitiesOf(client, server), sent, (capabilities, {message}) => {
		const conversation = busy(client, server, capabilities);
		conversation.send(sender === 'client' ? 'client' : 'upstream', message);
		conversation.check(validator);
	});
};

for (const validator of validators)
	for (const pair of pairs)
		for (const sender of ['client', 'server'] as const)
			test(`translates or drops a notification of the ${sender}, ${pair.join(' client to ')} server (${validator.name})`, t => {
				t.notThrows(() => holds(notified(pair, sender, validator), 5 * RUNS));
			});

test('removes the envelope of a stateless request and keeps other metadata', t => {
	const {pair} = new Conversation(STATELESS, '2025-11-25');
	pair.client.send({id: 1, method: 'tools/list', params: {_meta: envelope({}, {traceparent: 'x'})}});
	t.like(pair.upstream.received.at(-1), {id: 1, params: {_meta: {traceparent: 'x'}}});
	t.false(
		'io.modelcontextprotocol/protocolVersion' in objectOf(objectOf(pair.upstream.received.at(-1))._meta),
	);
});
