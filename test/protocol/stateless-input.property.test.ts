import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import {type HandshakeVersion, handshakeVersions} from '../../lib/protocol/version.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {elicitResult} from '../helpers/mcp-arbitrary/elicitation.js';
import {modelResult, rootsResult} from '../helpers/mcp-arbitrary/results.js';
import {type Sample, samplesOf} from '../helpers/mcp-arbitrary.js';
import {type Validator, validators} from '../helpers/validity/validators.js';
import {envelope} from '../helpers/version-stages.js';
import {holds, isInputRequired, MODERN, Talk} from './stateless-client.js';

const RUNS = 150;
/** A client that can be asked whatever there is to ask, and one of this version. */
const able = {elicitation: {form: {}, url: {}}, sampling: {tools: {}, context: {}}, roots: {}};
const ableIn = (version: HandshakeVersion): JsonObject => {
	if (version >= '2025-11-25') return able;
	return {...(version >= '2025-06-18' ? {elicitation: {}} : {}), sampling: {}, roots: {}};
};
const server = {tools: {}, prompts: {}, resources: {}};
const call = {jsonrpc: '2.0', method: 'tools/call'};

/** What a modern client answers to a server of this version: no list in a form that has no choice of several. */
const responsesTo = (version: HandshakeVersion): {readonly [method: string]: fc.Arbitrary<unknown>} => ({
	'elicitation/create': elicitResult(version < '2025-11-25' ? version : MODERN, {}),
	'sampling/createMessage': modelResult(MODERN, {}),
	'roots/list': rootsResult(MODERN, {}),
});

/** A question of a handshake server, and what the modern client comes back with. */
function asks(
	version: HandshakeVersion,
	{message}: Sample,
	responses: JsonObject,
	validator: Validator,
): void {
	const conversation = new Talk(MODERN, version, {client: able, server});
	const params = {name: 'x', _meta: envelope(able)};
	conversation.say('client', {...call, id: 'c', params});
	const [needed] = conversation.say('upstream', message);
	if (isInputRequired(needed)) {
		const {requestState, inputRequests} = objectOf(needed?.result);
		const inputResponses = Object.fromEntries(
			Object.entries(objectOf(inputRequests)).map(([name, request]) => [
				name,
				responses[String(objectOf(request).method)],
			]),
		);
		const heard = conversation.say('client', {
			...call,
			id: 'd',
			params: {...params, requestState, inputResponses},
		});
		assert.ok(heard.length > 0);
	}
	conversation.check(validator);
}

for (const validator of validators)
	for (const version of handshakeVersions)
		test(`a request of a ${version} server to a stateless client and the response are valid (${validator.name})`, t => {
			const questions = fc.oneof(...samplesOf(version, 'server').request.values());
			const property = fc.property(questions, fc.record(responsesTo(version)), (question, responses) =>
				asks(version, question, responses, validator),
			);
			t.notThrows(() => holds(property, RUNS));
		});

/** An answer of a modern server that asks for input, and what the handshake client answers to each question. */
function needs(
	{version, method}: {version: HandshakeVersion; method: string},
	{message}: Sample,
	answers: JsonObject,
	validator: Validator,
): void {
	const conversation = new Talk(version, MODERN, {client: ableIn(version), server});
	conversation.say('client', {jsonrpc: '2.0', id: 'c', method, params: {name: 'x', uri: 'file:///a'}});
	const questions = conversation.say('upstream', {...message, id: 'c'});
	for (const {id, method: asked} of questions) {
		const answer = answers[String(asked)] as Sample | undefined;
		const error = {code: -32601, message: 'no'};
		if (id !== undefined && asked !== undefined)
			conversation.say('client', answer ? {...answer.message, id} : {jsonrpc: '2.0', id, error});
	}
	conversation.check(validator);
}

/** What a client of this version answers, or that it does not. */
const answersOf = (version: HandshakeVersion): fc.Arbitrary<JsonObject> => {
	const results = samplesOf(version, 'client').result;
	const isPlain = ({definition}: Sample): boolean => definition !== 'CreateTaskResult';
	return fc.record(
		Object.fromEntries(
			Object.keys(responsesTo(version)).map(method => [
				method,
				fc.option(results.get(method)?.filter(isPlain) ?? fc.constant(undefined), {
					nil: undefined,
					freq: 10,
				}),
			]),
		),
	);
};

/** Any result of a stateless server that asks for input, and any responses of a client of this version. */
const inputNeeded = (version: HandshakeVersion, method: string, validator: Validator) => {
	const results = samplesOf(MODERN, 'server').result.get(method) ?? fc.constant(undefined);
	return fc.property(results, answersOf(version), (needed, answers) => {
		if (needed && isInputRequired(needed.message)) needs({version, method}, needed, answers, validator);
	});
};

for (const validator of validators)
	for (const version of handshakeVersions)
		for (const method of ['tools/call', 'prompts/get', 'resources/read'])
			test(`input for ${method} of a stateless server, by a ${version} client, is valid (${validator.name})`, t => {
				t.notThrows(() => holds(inputNeeded(version, method, validator), 2 * RUNS));
			});
