import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf} from '../../helpers/version-stages.js';
import {
	requiredInput,
	retry,
	sendRequest,
	serverRequest,
	statelessClientPair,
	takeReceived,
	textResult,
} from '../stateless-support.js';

const acceptance = {action: 'accept', content: {}};

test('sends a server request in the response to the latest call that can carry it', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	sendRequest(pair, 2);
	sendRequest(pair, 3, {method: 'tools/list'});
	sendRequest(pair, 4, {capabilities: {sampling: {}}});
	pair.upstream.send(serverRequest('s1'));
	t.is(requiredInput(pair).id, 2);
	t.deepEqual(requiredInput(pair).requests, {s1: {method: 'elicitation/create', params: {message: '?'}}});
	pair.upstream.send(serverRequest('s2', 'sampling/createMessage', {messages: []}));
	t.is(requiredInput(pair).id, 4);
	t.is(pair.client.received.length, 2);
});

for (const method of ['prompts/get', 'resources/read'])
	test(`sends a server request in the response to ${method}, too`, t => {
		const pair = statelessClientPair();
		sendRequest(pair, 1, {method});
		pair.upstream.send(serverRequest('s'));
		t.is(requiredInput(pair).id, 1);
	});

for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create']) {
	test(`rejects ${method} without a pending call`, t => {
		const pair = statelessClientPair();
		pair.upstream.send(serverRequest(5, method));
		t.like(takeReceived(pair.upstream), [{id: 5, error: {code: -32601}}]);
		t.deepEqual(pair.client.received, []);
	});

	test(`rejects ${method} if no call has declared the capability`, t => {
		const pair = statelessClientPair();
		sendRequest(pair, 1, {capabilities: {}});
		takeReceived(pair.upstream);
		pair.upstream.send(serverRequest(5, method));
		t.like(takeReceived(pair.upstream), [{id: 5, error: {code: -32601}}]);
		t.deepEqual(pair.client.received, []);
	});
}

test('removes members that only handshake clients support from a server request', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	const params = {mode: 'url', url: 'https://a', elicitationId: 'e', _meta: {x: 1}, task: {}};
	pair.upstream.send(serverRequest('s', 'elicitation/create', params));
	t.deepEqual(requiredInput(pair).requests, {
		s: {method: 'elicitation/create', params: {mode: 'url', url: 'https://a'}},
	});
});

test('forwards the input as the response to the server request, and the result to the retry', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	takeReceived(pair.upstream);
	pair.upstream.send(serverRequest('s'));
	retry(pair, 2, requiredInput(pair).state, {s: acceptance});
	t.deepEqual(takeReceived(pair.upstream), [{jsonrpc: '2.0', id: 's', result: acceptance}]);
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 2, result: {resultType: 'complete', ...textResult('done')}});
});

test('handles two server requests in one call', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('s1'));
	retry(pair, 2, requiredInput(pair).state, {s1: acceptance});
	takeReceived(pair.upstream);
	pair.upstream.send(serverRequest('s2'));
	t.is(requiredInput(pair).id, 2);
	t.deepEqual(Object.keys(requiredInput(pair).requests), ['s2']);
	retry(pair, 3, requiredInput(pair).state, {s2: acceptance});
	t.like(takeReceived(pair.upstream), [{id: 's2', result: acceptance}]);
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 3, result: textResult('done')});
});

test('sends server requests that arrive while the call is parked with the retry', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('s1'));
	const {state} = requiredInput(pair);
	pair.upstream.send(serverRequest('s2'));
	t.is(pair.client.received.length, 1);
	retry(pair, 2, state, {s1: acceptance});
	t.is(requiredInput(pair).id, 2);
	t.deepEqual(Object.keys(requiredInput(pair).requests), ['s2']);
	t.not(requiredInput(pair).state, state);
});

test('requires the input again, with a new requestState, after a retry without it', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	takeReceived(pair.upstream);
	pair.upstream.send(serverRequest('s'));
	const first = requiredInput(pair);
	retry(pair, 2, first.state);
	t.is(requiredInput(pair).id, 2);
	t.deepEqual(requiredInput(pair).requests, first.requests);
	t.not(requiredInput(pair).state, first.state);
	t.deepEqual(pair.upstream.received, []);
});

test('keeps a response that arrives while the call is parked until the retry', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('s'));
	pair.upstream.send({id: 1, result: textResult('anyway')});
	t.is(pair.client.received.length, 1);
	retry(pair, 2, requiredInput(pair).state, {s: acceptance});
	t.like(lastOf(pair.client), {id: 2, result: {resultType: 'complete', ...textResult('anyway')}});
});

for (const [kind, state] of [
	['never issued', 'bridge.v1.AAAAAAAAAAAAAAAAAAAAAAAA'],
	['from another upstream', 'opaque'],
	['empty', ''],
	['the name of a built-in member', '__proto__'],
])
	test(`rejects a requestState that is ${kind}`, t => {
		const pair = statelessClientPair();
		retry(pair, 1, state);
		t.like(takeReceived(pair.client), [{id: 1, error: {code: -32602}}]);
		t.deepEqual(pair.upstream.received, []);
	});

test('accepts a requestState for one retry only', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('s'));
	const {state} = requiredInput(pair);
	retry(pair, 2, state, {s: acceptance});
	takeReceived(pair.upstream);
	retry(pair, 3, state, {s: acceptance});
	t.like(lastOf(pair.client), {id: 3, error: {code: -32602}});
	t.deepEqual(pair.upstream.received, []);
});

test('does not respond to a server request that the upstream has cancelled', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	takeReceived(pair.upstream);
	pair.upstream.send(serverRequest(7));
	pair.upstream.send({method: 'notifications/cancelled', params: {requestId: 7}});
	t.is(pair.client.received.length, 1);
	retry(pair, 2, requiredInput(pair).state, {7: acceptance});
	t.deepEqual(pair.upstream.received, []);
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 2, result: textResult('done')});
});

test('cancels a retried call with its upstream id', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 'first');
	pair.upstream.send(serverRequest('s'));
	retry(pair, 'second', requiredInput(pair).state, {s: acceptance});
	takeReceived(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 'second', reason: 'r'}});
	t.like(takeReceived(pair.upstream), [
		{method: 'notifications/cancelled', params: {requestId: 'first', reason: 'r'}},
	]);
});

test('accepts a retry with the id of its call', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('s'));
	retry(pair, 1, requiredInput(pair).state, {s: acceptance});
	t.like(lastOf(pair.upstream), {id: 's', result: acceptance});
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 1, result: textResult('done')});
});

test('translates an error for required URL elicitations, and sends the retry as a new call', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {params: {name: 'x', arguments: {a: 1}}});
	const elicitations = [{mode: 'url', elicitationId: 'e', url: 'https://a', message: 'm'}];
	pair.upstream.send({id: 1, error: {code: -32042, message: 'go', data: {elicitations}}});
	const params = {mode: 'url', url: 'https://a', message: 'm'};
	t.deepEqual(requiredInput(pair).requests, {e: {method: 'elicitation/create', params}});
	takeReceived(pair.upstream);
	const {state: requestState} = requiredInput(pair);
	sendRequest(pair, 2, {
		params: {name: 'x', arguments: {a: 1}, requestState, inputResponses: {e: {action: 'accept'}}},
	});
	t.deepEqual(takeReceived(pair.upstream), [
		{jsonrpc: '2.0', id: 2, method: 'tools/call', params: {name: 'x', arguments: {a: 1}}},
	]);
	pair.upstream.send({id: 2, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 2, result: textResult('done')});
});

test('continues after an error for required URL elicitations with invalid data', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send({id: 1, error: {code: -32042, message: 'go', data: {elicitations: 'https://a'}}});
	t.is(lastOf(pair.client).id, 1);
	takeReceived(pair.client);
	sendRequest(pair, 2);
	pair.upstream.send({id: 2, result: textResult('done')});
	t.like(takeReceived(pair.client), [{id: 2, result: textResult('done')}]);
});

test('distinguishes server requests with the ids 1 and "1"', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest(1));
	pair.upstream.send(serverRequest('1', 'elicitation/create', {message: 'other'}));
	retry(pair, 2, requiredInput(pair).state, {1: acceptance});
	const {requests} = requiredInput(pair);
	t.like(Object.values(requests), [{params: {message: 'other'}}]);
});

test('handles a server request with the id __proto__', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	takeReceived(pair.upstream);
	pair.upstream.send(serverRequest('__proto__'));
	retry(pair, 2, requiredInput(pair).state);
	t.deepEqual(pair.upstream.receivedTexts, []);
	t.deepEqual(Object.keys(objectOf(requiredInput(pair).requests)), ['__proto__']);
});

test('preserves metadata that the stateless schema cannot carry in _meta, and counts the loss', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1, {capabilities: {sampling: {}}});
	const metadata = '{"a":null,"b":0.50,"c":1}';
	const params = `{"messages":[],"maxTokens":10,"metadata":${metadata}}`;
	pair.upstream.sendText(`{"jsonrpc":"2.0","id":"q/1","method":"sampling/createMessage","params":${params}}`);
	const {result} = lastOf(pair.client);
	t.like(result, {inputRequests: {'q/1': {params: {maxTokens: 10}}}});
	t.deepEqual(objectOf(objectOf(objectOf(requiredInput(pair).requests['q/1']).params).metadata), {c: 1});
	t.like(objectOf(result)._meta, {
		'io.bridge/original': {
			'/inputRequests/q~11/params/metadata/a': null,
			'/inputRequests/q~11/params/metadata/b': 0.5,
		},
	});
	t.deepEqual([...pair.session.losses], [['null and fractions in sampling metadata', 1]]);
});
