import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf, type Pair} from '../../helpers/version-stages.js';
import {modernServerPair, needs, news, textResult} from '../stateless-support.js';

const elicit = {method: 'elicitation/create', params: {message: 'Who?', requestedSchema: {}}};
const sample = {method: 'sampling/createMessage', params: {messages: [], maxTokens: 1}};

/** A handshake client has called a tool of a modern server, or something else. */
function called(method = 'tools/call', id: unknown = 1): Pair {
	const pair = modernServerPair({
		clientCapabilities: {elicitation: {}, sampling: {tools: {}}, roots: {}},
	});
	pair.client.send({id, method, params: {name: 'x', arguments: {a: 1}}});
	news(pair.upstream);
	return pair;
}

/** The server's answer to the last that it was asked. */
const finish = ({upstream}: Pair): void =>
	upstream.send({id: lastOf(upstream).id, result: {resultType: 'complete', ...textResult('done')}});

test('what the server needs is asked of the client at once, and the call made again with all answers', t => {
	const pair = called();
	pair.upstream.send(needs(1, {who: elicit, what: sample, where: {method: 'roots/list'}}, 'state'));
	const [who, what, where] = news(pair.client);
	t.like([who, what, where], [elicit, sample, {method: 'roots/list'}]);
	pair.client.send({id: where?.id, result: {roots: []}});
	pair.client.send({id: who?.id, result: {action: 'decline', _meta: {x: 1}}});
	t.deepEqual(pair.upstream.received, []);
	pair.client.send({id: what?.id, result: {role: 'user'}});
	t.is(pair.upstream.received.length, 1);
	t.like(lastOf(pair.upstream), {
		method: 'tools/call',
		params: {
			name: 'x',
			arguments: {a: 1},
			requestState: 'state',
			inputResponses: {who: {action: 'decline'}, what: {role: 'user'}, where: {roots: []}},
		},
	});
	t.deepEqual(objectOf(objectOf(lastOf(pair.upstream).params).inputResponses).who, {action: 'decline'});
	t.not(lastOf(pair.upstream).id, 1);
	finish(pair);
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, result: textResult('done')}]);
});

test('a server that only wants its state back gets it without a question', t => {
	const pair = called();
	pair.upstream.send(needs(1, undefined, 'state'));
	t.deepEqual(pair.client.received, []);
	const {params} = lastOf(pair.upstream);
	t.is(objectOf(params).requestState, 'state');
	t.false('inputResponses' in objectOf(params));
});

test('a server that gives no state gets none, also not that of the round before', t => {
	const pair = called();
	pair.upstream.send(needs(1, undefined, 'state'));
	pair.upstream.send(needs(lastOf(pair.upstream).id, {who: elicit}));
	pair.client.send({id: lastOf(pair.client).id, result: {action: 'cancel'}});
	t.false('requestState' in objectOf(lastOf(pair.upstream).params));
	t.deepEqual(objectOf(lastOf(pair.upstream).params).inputResponses, {who: {action: 'cancel'}});
});

for (const [code, words] of [
	[-32601, 'cannot give: sampling/createMessage (protocol 2025-11-25)'],
	[-32602, 'cannot give: sampling/createMessage (protocol 2025-11-25)'],
	[-1, 'did not give: sampling/createMessage (nobody there)'],
] as const)
	test(`one question answered with ${code} ends the call, and takes the others back`, t => {
		const pair = called();
		pair.upstream.send(needs(1, {who: elicit, what: sample}));
		const [who, what] = news(pair.client);
		news(pair.upstream);
		pair.client.send({id: what?.id, error: {code, message: 'nobody there'}});
		t.like(news(pair.client), [
			{method: 'notifications/cancelled', params: {requestId: who?.id}},
			{
				id: 1,
				result: {
					isError: true,
					content: [{type: 'text', text: `The tool needs input that this client ${words}.`}],
				},
			},
		]);
		pair.client.send({id: who?.id, result: {action: 'cancel'}});
		t.deepEqual(pair.upstream.received, []);
	});

for (const method of ['prompts/get', 'resources/read'])
	test(`${method} without the input that it needs is an error`, t => {
		const pair = called(method);
		pair.upstream.send(needs(1, {who: elicit}));
		pair.client.send({id: lastOf(pair.client).id, error: {code: -32601, message: 'no'}});
		t.like(lastOf(pair.client), {id: 1, error: {code: -32603}});
		t.regex(
			String(objectOf(lastOf(pair.client).error).message),
			/^The server needs input.*elicitation\/create/,
		);
	});

test('a server that asks for input more than ten times is stopped', t => {
	const pair = called();
	pair.upstream.send(needs(1, undefined, 's'));
	for (let round = 1; round < 10; round++)
		pair.upstream.send(needs(lastOf(pair.upstream).id, undefined, 's'));
	t.deepEqual(pair.client.received, []);
	t.is(pair.upstream.received.length, 10);
	pair.upstream.send(needs(lastOf(pair.upstream).id, undefined, 's'));
	t.is(pair.upstream.received.length, 10);
	t.like(news(pair.client), [{id: 1, result: {isError: true}}]);
});

test('prompts/get that asks for input more than ten times is an error', t => {
	const pair = called('prompts/get');
	pair.upstream.send(needs(1, undefined, 's'));
	for (let round = 0; round < 10; round++)
		pair.upstream.send(needs(lastOf(pair.upstream).id, undefined, 's'));
	t.like(news(pair.client), [{id: 1, error: {code: -32603}}]);
});

test('a call given up while the client is asked takes the questions back, and the server hears nothing', t => {
	const pair = called();
	pair.upstream.send(needs(1, {who: elicit}));
	const [who] = news(pair.client);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.like(news(pair.client), [{method: 'notifications/cancelled', params: {requestId: who?.id}}]);
	pair.client.send({id: who?.id, result: {action: 'cancel'}});
	t.deepEqual(pair.upstream.received, []);
	t.deepEqual(pair.client.received, []);
});

test('a call given up after a retry is given up under the id that the server knows', t => {
	const pair = called();
	pair.upstream.send(needs(1, undefined, 's'));
	const {id} = lastOf(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1, reason: 'r'}});
	t.deepEqual(lastOf(pair.upstream), {
		jsonrpc: '2.0',
		method: 'notifications/cancelled',
		params: {requestId: id, reason: 'r'},
	});
});

test('an answer to a question that nobody asked goes nowhere', t => {
	const pair = called();
	pair.client.send({id: 'other', result: {}});
	t.deepEqual(pair.upstream.received, []);
});

test('elicitation by URL gets an id', t => {
	const pair = called();
	pair.upstream.send(
		needs(1, {who: {method: 'elicitation/create', params: {mode: 'url', url: 'https://a'}}}),
	);
	const {id, params} = lastOf(pair.client);
	t.is(objectOf(params).elicitationId, id);
});

test('two calls with the ids 5 and "5" do not mix up their rounds', t => {
	const pair = called('tools/call', 5);
	pair.client.send({id: '5', method: 'tools/call', params: {name: 'y'}});
	news(pair.upstream);
	pair.upstream.send(needs(5, undefined, 's'));
	pair.upstream.send(needs('5', undefined, 's'));
	const [first, second] = news(pair.upstream);
	t.not(first?.id, second?.id);
});

test('an input called __proto__ is answered under its name', t => {
	const pair = called();
	const request = JSON.stringify(elicit);
	pair.upstream.sendText(
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"__proto__":${request}}}}`,
	);
	pair.client.send({id: lastOf(pair.client).id, result: {action: 'cancel'}});
	t.true(pair.upstream.receivedTexts[0]?.includes('"__proto__":{"action":"cancel"}'));
});

test('an input request without a method ends the call, rather than to leave it without an answer', t => {
	const pair = called();
	pair.upstream.send(needs(1, {who: 5}));
	t.like(news(pair.client), [{id: 1, result: {isError: true}}]);
});

test('tools in a question, and what they gave back, are objects for handshake clients', t => {
	const pair = called();
	const tools = [{name: 'a', inputSchema: {type: 'object'}, outputSchema: {type: 'array'}}];
	const output = {type: 'tool_result', toolUseId: 'u', content: [], structuredContent: [1]};
	const messages = [
		{role: 'user', content: output},
		{role: 'user', content: [output]},
	];
	pair.upstream.send(needs(1, {what: {...sample, params: {...sample.params, tools, messages}}}));
	const wrapped = {...output, content: [{type: 'text', text: '[1]'}], structuredContent: {result: [1]}};
	t.like(lastOf(pair.client).params, {
		messages: [{content: wrapped}, {content: [wrapped]}],
		tools: [{outputSchema: {type: 'object', properties: {result: {type: 'array'}}}}],
	});
});

test('what another bridge had to take out of a question is put back', t => {
	const pair = called();
	const {id, result} = needs(1, {what: {...sample, params: {...sample.params, metadata: {b: 1}}}});
	const originals = {'/inputRequests/what/params/metadata/a': null};
	pair.upstream.send({id, result: {...result, _meta: {'io.bridge/original': originals}}});
	t.deepEqual(objectOf(lastOf(pair.client).params).metadata, {b: 1, a: null});
});
