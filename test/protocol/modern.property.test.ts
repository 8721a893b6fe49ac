import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import {type HandshakeVersion, handshakeVersions} from '../../lib/protocol/version.js';
import {type Sample, samplesOf} from '../helpers/mcp-arbitrary.js';
import {type McpVersion, problemsOf, type Sender} from '../helpers/mcp-schema.js';
import {envelope, type Pair, shakeHands, versioned} from '../helpers/version-stages.js';

type Json = {readonly [key: string]: unknown};

const MODERN = '2026-07-28';
const RUNS = 30;
const serverCapabilities = {tools: {}, resources: {}, prompts: {}, completions: {}};

/** Methods of requests that both eras have, and that a server answers. */
const common = [
	...['tools/list', 'tools/call', 'prompts/list', 'prompts/get', 'completion/complete'],
	...['resources/list', 'resources/templates/list', 'resources/read'],
] as const;

const sampleOf = (version: McpVersion, sender: Sender, kind: 'request' | 'result', method: string) =>
	samplesOf(version, sender)[kind].get(method) ?? fc.constant(undefined);

/** What a side hears that its version does not have. */
function check(version: McpVersion, heard: readonly unknown[], method: string): void {
	for (const message of heard) {
		const problems = problemsOf(version, message, {method});
		assert.deepEqual(problems, [], JSON.stringify(message));
	}
}

function ready(client: string, server: string): Pair {
	const pair = versioned();
	shakeHands(pair, {client, server, serverCapabilities});
	return pair;
}

const say = (side: Pair['client'], message: unknown): void => side.sayText(JSON.stringify(message));

/** A request of the client, and what the server answers, both of their own version. */
function talk(
	client: McpVersion,
	server: McpVersion,
	method: string,
	question: Sample,
	answer: Sample,
): void {
	const pair = ready(client, server);
	const [before, heard] = [pair.upstream.heard.length, pair.client.heard.length];
	say(pair.client, question.message);
	const asked = pair.upstream.heard.slice(before);
	check(server, asked, method);
	const {id} = (asked.at(-1) ?? {}) as Json;
	if (id === undefined) return;
	say(pair.upstream, {...answer.message, id});
	const answers = pair.client.heard.slice(heard);
	assert.ok(answers.length > 0);
	check(client, answers, method);
}

const isInputRequired = ({message}: Sample): boolean =>
	((message as Json).result as Json | undefined)?.resultType === 'input_required';

function hold(client: McpVersion, server: HandshakeVersion | typeof MODERN, method: string): void {
	const asks = sampleOf(client, 'client', 'request', method);
	const answers = sampleOf(server, 'server', 'result', method);
	fc.assert(
		fc.property(asks, answers, (question, answer) => {
			if (!question || !answer || isInputRequired(answer) || answer.definition === 'CreateTaskResult') return;
			// A word that bridge never gave is refused, and nothing is asked.
			if (JSON.stringify(question.message).includes('"requestState"')) return;
			talk(client, server, method, question, answer);
		}),
		{numRuns: RUNS},
	);
}

for (const version of handshakeVersions)
	for (const method of common) {
		test(`${method} of a modern client, valid for a ${version} server, is answered validly`, t => {
			t.notThrows(() => hold(MODERN, version, method));
		});
		test(`${method} of a ${version} client, valid for a modern server, is answered validly`, t => {
			t.notThrows(() => hold(version, MODERN, method));
		});
	}

test('a modern request has what a handshake server expects, whatever else its envelope holds', t => {
	const pair = ready(MODERN, '2025-11-25');
	pair.client.say({id: 1, method: 'tools/list', params: {_meta: envelope({}, {traceparent: 'x'})}});
	t.like(pair.upstream.heard.at(-1), {id: 1, params: {_meta: {traceparent: 'x'}}});
});
