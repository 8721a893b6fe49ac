import test from 'ava';
import fc from 'fast-check';
import {handshakeVersions} from '../../lib/protocol/version.js';
import {objectOf} from '../../lib/util/json.js';
import {clientCapabilities, serverCapabilities} from '../helpers/mcp-arbitrary/features.js';
import {type Sample, samplesOf} from '../helpers/mcp-arbitrary.js';
import type {McpVersion, Sender} from '../helpers/mcp-version.js';
import {type Validator, validators} from '../helpers/validity/validators.js';
import {envelope} from '../helpers/version-stages.js';
import {type Capabilities, holds, isInputRequired, MODERN, Talk} from './stateless-client.js';

const RUNS = 30;

/** All pairs in which one side is modern. */
const pairs = handshakeVersions.flatMap(version => [[MODERN, version] as const, [version, MODERN] as const]);

const capabilitiesOf = (client: McpVersion, server: McpVersion): fc.Arbitrary<Capabilities> =>
	fc.record({client: clientCapabilities(client), server: serverCapabilities(server)});

const sampleOf = (samples: ReadonlyMap<string, fc.Arbitrary<Sample>>, method: string) =>
	samples.get(method) ?? fc.constant(undefined);

/** Nobody is answered with a task who has not asked for one. */
const isUnasked = ({definition}: Sample): boolean => definition === 'CreateTaskResult';

/** A request of the client, and what the server answers, both of their own version. */
function talk(conversation: Talk, question: Sample, answer: Sample | undefined, validator: Validator): void {
	const asked = conversation.say('client', question.message);
	const request = asked.findLast(({method}) => method === question.method);
	if (request && answer && !isUnasked(answer))
		conversation.say('upstream', {...answer.message, ...('id' in answer.message ? {id: request.id} : {})});
	conversation.check(validator);
}

/** Any request with this method, and any answer to it: those that ask for input are the matter of another test. */
const answered = (
	[client, server]: readonly [McpVersion, McpVersion],
	method: string,
	kind: 'result' | 'error',
	validator: Validator,
) =>
	fc.property(
		capabilitiesOf(client, server),
		sampleOf(samplesOf(client, 'client').request, method),
		sampleOf(samplesOf(server, 'server')[kind], method),
		(capabilities, question, answer) => {
			if (!question || (answer && isInputRequired(answer.message))) return;
			talk(new Talk(client, server, capabilities), question, answer, validator);
		},
	);

for (const validator of validators)
	for (const pair of pairs)
		for (const method of samplesOf(pair[0], 'client').request.keys()) {
			const [client, server] = pair;
			const request = `${method} of a ${client} client`;
			test(`${request} and its result are valid through a ${server} server (${validator.name})`, t => {
				t.notThrows(() => holds(answered(pair, method, 'result', validator), RUNS));
			});
			test(`an error of a ${server} server for ${request} is valid (${validator.name})`, t => {
				t.notThrows(() => holds(answered(pair, method, 'error', validator), RUNS));
			});
		}

/** What there may be to say something about: a call, and a stream. */
function busy(client: McpVersion, server: McpVersion, capabilities: Capabilities): Talk {
	const conversation = new Talk(client, server, capabilities);
	const meta = client === MODERN ? {_meta: envelope(capabilities.client)} : {};
	conversation.say('client', {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'x', ...meta}});
	const notifications = {toolsListChanged: true, resourceSubscriptions: ['file:///a']};
	if (client === MODERN)
		conversation.say('client', {
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
		conversation.say(sender === 'client' ? 'client' : 'upstream', message);
		conversation.check(validator);
	});
};

for (const validator of validators)
	for (const pair of pairs)
		for (const sender of ['client', 'server'] as const)
			test(`a notification of the ${sender}, ${pair.join(' client to ')} server, is valid or not forwarded (${validator.name})`, t => {
				t.notThrows(() => holds(notified(pair, sender, validator), 5 * RUNS));
			});

test('a modern request has what a handshake server expects, whatever else its envelope holds', t => {
	const {pair} = new Talk(MODERN, '2025-11-25');
	pair.client.send({id: 1, method: 'tools/list', params: {_meta: envelope({}, {traceparent: 'x'})}});
	t.like(pair.upstream.received.at(-1), {id: 1, params: {_meta: {traceparent: 'x'}}});
	t.false(
		'io.modelcontextprotocol/protocolVersion' in objectOf(objectOf(pair.upstream.received.at(-1))._meta),
	);
});
