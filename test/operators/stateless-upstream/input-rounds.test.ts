import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf, type Pair} from '../../helpers/version-stages.js';
import {inputRequired, statelessUpstreamPair, takeReceived, textResult} from '../stateless-support.js';

const elicit = {method: 'elicitation/create', params: {message: 'Who?', requestedSchema: {}}};
const sample = {method: 'sampling/createMessage', params: {messages: [], maxTokens: 1}};

/** Connects a handshake client with a pending request at a stateless upstream. */
function startCall(method = 'tools/call', id: unknown = 1): Pair {
	const pair = statelessUpstreamPair({
		clientCapabilities: {elicitation: {}, sampling: {tools: {}}, roots: {}},
	});
	pair.client.send({id, method, params: {name: 'x', arguments: {a: 1}}});
	takeReceived(pair.upstream);
	return pair;
}

/** Completes the last request upstream. */
const finish = ({upstream}: Pair): void =>
	upstream.send({id: lastOf(upstream).id, result: {resultType: 'complete', ...textResult('done')}});

test('requests all inputs from the client at once, and retries the call with all responses', t => {
	const pair = startCall();
	pair.upstream.send(inputRequired(1, {who: elicit, what: sample, where: {method: 'roots/list'}}, 'state'));
	const [who, what, where] = takeReceived(pair.client);
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
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, result: textResult('done')}]);
});

test('retries immediately if the upstream requires only its requestState', t => {
	const pair = startCall();
	pair.upstream.send(inputRequired(1, undefined, 'state'));
	t.deepEqual(pair.client.received, []);
	const {params} = lastOf(pair.upstream);
	t.is(objectOf(params).requestState, 'state');
	t.false('inputResponses' in objectOf(params));
});

test('does not send the requestState of an earlier round', t => {
	const pair = startCall();
	pair.upstream.send(inputRequired(1, undefined, 'state'));
	pair.upstream.send(inputRequired(lastOf(pair.upstream).id, {who: elicit}));
	pair.client.send({id: lastOf(pair.client).id, result: {action: 'cancel'}});
	t.false('requestState' in objectOf(lastOf(pair.upstream).params));
	t.deepEqual(objectOf(lastOf(pair.upstream).params).inputResponses, {who: {action: 'cancel'}});
});

for (const [code, reason] of [
	[-32601, 'cannot give: sampling/createMessage (protocol 2025-11-25)'],
	[-32602, 'cannot give: sampling/createMessage (protocol 2025-11-25)'],
	[-1, 'did not give: sampling/createMessage (user absent)'],
] as const)
	test(`fails the call and cancels the other inputs after an error ${code} for one input`, t => {
		const pair = startCall();
		pair.upstream.send(inputRequired(1, {who: elicit, what: sample}));
		const [who, what] = takeReceived(pair.client);
		takeReceived(pair.upstream);
		pair.client.send({id: what?.id, error: {code, message: 'user absent'}});
		t.like(takeReceived(pair.client), [
			{method: 'notifications/cancelled', params: {requestId: who?.id}},
			{
				id: 1,
				result: {
					isError: true,
					content: [{type: 'text', text: `The tool needs input that this client ${reason}.`}],
				},
			},
		]);
		pair.client.send({id: who?.id, result: {action: 'cancel'}});
		t.deepEqual(pair.upstream.received, []);
	});

for (const method of ['prompts/get', 'resources/read'])
	test(`fails ${method} with an error if the input is missing`, t => {
		const pair = startCall(method);
		pair.upstream.send(inputRequired(1, {who: elicit}));
		pair.client.send({id: lastOf(pair.client).id, error: {code: -32601, message: 'no'}});
		t.like(lastOf(pair.client), {id: 1, error: {code: -32603}});
		t.regex(
			String(objectOf(lastOf(pair.client).error).message),
			/^The server needs input.*elicitation\/create/,
		);
	});

test('fails a tool call with a result after more than ten rounds of input', t => {
	const pair = startCall();
	pair.upstream.send(inputRequired(1, undefined, 's'));
	for (let round = 1; round < 10; round++)
		pair.upstream.send(inputRequired(lastOf(pair.upstream).id, undefined, 's'));
	t.deepEqual(pair.client.received, []);
	t.is(pair.upstream.received.length, 10);
	pair.upstream.send(inputRequired(lastOf(pair.upstream).id, undefined, 's'));
	t.is(pair.upstream.received.length, 10);
	t.like(takeReceived(pair.client), [{id: 1, result: {isError: true}}]);
});

test('fails prompts/get with an error after more than ten rounds of input', t => {
	const pair = startCall('prompts/get');
	pair.upstream.send(inputRequired(1, undefined, 's'));
	for (let round = 0; round < 10; round++)
		pair.upstream.send(inputRequired(lastOf(pair.upstream).id, undefined, 's'));
	t.like(takeReceived(pair.client), [{id: 1, error: {code: -32603}}]);
});

test('cancels the input requests of a cancelled call, without a message to the upstream', t => {
	const pair = startCall();
	pair.upstream.send(inputRequired(1, {who: elicit}));
	const [who] = takeReceived(pair.client);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.like(takeReceived(pair.client), [{method: 'notifications/cancelled', params: {requestId: who?.id}}]);
	pair.client.send({id: who?.id, result: {action: 'cancel'}});
	t.deepEqual(pair.upstream.received, []);
	t.deepEqual(pair.client.received, []);
});

test('cancels a retried call with its upstream id', t => {
	const pair = startCall();
	pair.upstream.send(inputRequired(1, undefined, 's'));
	const {id} = lastOf(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1, reason: 'r'}});
	t.deepEqual(lastOf(pair.upstream), {
		jsonrpc: '2.0',
		method: 'notifications/cancelled',
		params: {requestId: id, reason: 'r'},
	});
});

test('drops a response to an unknown input request', t => {
	const pair = startCall();
	pair.client.send({id: 'other', result: {}});
	t.deepEqual(pair.upstream.received, []);
});

test('adds an elicitationId to a URL elicitation', t => {
	const pair = startCall();
	pair.upstream.send(
		inputRequired(1, {who: {method: 'elicitation/create', params: {mode: 'url', url: 'https://a'}}}),
	);
	const {id, params} = lastOf(pair.client);
	t.is(objectOf(params).elicitationId, id);
});

test('distinguishes the rounds of calls with the ids 5 and "5"', t => {
	const pair = startCall('tools/call', 5);
	pair.client.send({id: '5', method: 'tools/call', params: {name: 'y'}});
	takeReceived(pair.upstream);
	pair.upstream.send(inputRequired(5, undefined, 's'));
	pair.upstream.send(inputRequired('5', undefined, 's'));
	const [first, second] = takeReceived(pair.upstream);
	t.not(first?.id, second?.id);
});

test('handles an input with the name __proto__', t => {
	const pair = startCall();
	const request = JSON.stringify(elicit);
	pair.upstream.sendText(
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"__proto__":${request}}}}`,
	);
	pair.client.send({id: lastOf(pair.client).id, result: {action: 'cancel'}});
	t.true(pair.upstream.receivedTexts[0]?.includes('"__proto__":{"action":"cancel"}'));
});

test('fails a call with an input request without a method', t => {
	const pair = startCall();
	pair.upstream.send(inputRequired(1, {who: 5}));
	t.like(takeReceived(pair.client), [{id: 1, result: {isError: true}}]);
});

test('wraps tool schemas and tool results in a sampling request', t => {
	const pair = startCall();
	const tools = [{name: 'a', inputSchema: {type: 'object'}, outputSchema: {type: 'array'}}];
	const output = {type: 'tool_result', toolUseId: 'u', content: [], structuredContent: [1]};
	const messages = [
		{role: 'user', content: output},
		{role: 'user', content: [output]},
	];
	pair.upstream.send(inputRequired(1, {what: {...sample, params: {...sample.params, tools, messages}}}));
	const wrapped = {...output, content: [{type: 'text', text: '[1]'}], structuredContent: {result: [1]}};
	t.like(lastOf(pair.client).params, {
		messages: [{content: wrapped}, {content: [wrapped]}],
		tools: [{outputSchema: {type: 'object', properties: {result: {type: 'array'}}}}],
	});
});

test('restores metadata that another bridge has removed from an input request', t => {
	const pair = startCall();
	const {id, result} = inputRequired(1, {what: {...sample, params: {...sample.params, metadata: {b: 1}}}});
	const originals = {'/inputRequests/what/params/metadata/a': null};
	pair.upstream.send({id, result: {...result, _meta: {'io.bridge/original': originals}}});
	t.deepEqual(objectOf(lastOf(pair.client).params).metadata, {b: 1, a: null});
});
