import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf} from '../../helpers/version-stages.js';
import {ask, asked, modernClientPair, news, question, retry, textResult} from '../stateless-support.js';

const answer = {action: 'accept', content: {}};

test('a question goes to the client in the answer to the last call that can carry it', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	ask(pair, 2);
	ask(pair, 3, {method: 'tools/list'});
	ask(pair, 4, {can: {sampling: {}}});
	pair.upstream.send(question('s1'));
	t.is(asked(pair).id, 2);
	t.deepEqual(asked(pair).requests, {s1: {method: 'elicitation/create', params: {message: '?'}}});
	pair.upstream.send(question('s2', 'sampling/createMessage', {messages: []}));
	t.is(asked(pair).id, 4);
	t.is(pair.client.received.length, 2);
});

for (const method of ['prompts/get', 'resources/read'])
	test(`${method} can carry a question, too`, t => {
		const pair = modernClientPair();
		ask(pair, 1, {method});
		pair.upstream.send(question('s'));
		t.is(asked(pair).id, 1);
	});

for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create']) {
	test(`${method} outside of any call is refused`, t => {
		const pair = modernClientPair();
		pair.upstream.send(question(5, method));
		t.like(news(pair.upstream), [{id: 5, error: {code: -32601}}]);
		t.deepEqual(pair.client.received, []);
	});

	test(`${method} is refused where no call has declared that the client can`, t => {
		const pair = modernClientPair();
		ask(pair, 1, {can: {}});
		news(pair.upstream);
		pair.upstream.send(question(5, method));
		t.like(news(pair.upstream), [{id: 5, error: {code: -32601}}]);
		t.deepEqual(pair.client.received, []);
	});
}

test('a question is asked without what only handshake clients know', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	const params = {mode: 'url', url: 'https://a', elicitationId: 'e', _meta: {x: 1}, task: {}};
	pair.upstream.send(question('s', 'elicitation/create', params));
	t.deepEqual(asked(pair).requests, {
		s: {method: 'elicitation/create', params: {mode: 'url', url: 'https://a'}},
	});
});

test('the answer goes to the server as the answer to its question, and the result to the retry', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	news(pair.upstream);
	pair.upstream.send(question('s'));
	retry(pair, 2, asked(pair).state, {s: answer});
	t.deepEqual(news(pair.upstream), [{jsonrpc: '2.0', id: 's', result: answer}]);
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 2, result: {resultType: 'complete', ...textResult('done')}});
});

test('a server that asks twice in one call is answered twice', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question('s1'));
	retry(pair, 2, asked(pair).state, {s1: answer});
	news(pair.upstream);
	pair.upstream.send(question('s2'));
	t.is(asked(pair).id, 2);
	t.deepEqual(Object.keys(asked(pair).requests), ['s2']);
	retry(pair, 3, asked(pair).state, {s2: answer});
	t.like(news(pair.upstream), [{id: 's2', result: answer}]);
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 3, result: textResult('done')});
});

test('what a server asks while the client is away is asked when it is back', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question('s1'));
	const {state} = asked(pair);
	pair.upstream.send(question('s2'));
	t.is(pair.client.received.length, 1);
	retry(pair, 2, state, {s1: answer});
	t.is(asked(pair).id, 2);
	t.deepEqual(Object.keys(asked(pair).requests), ['s2']);
	t.not(asked(pair).state, state);
});

test('a client that comes back with nothing is asked again, under another word', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	news(pair.upstream);
	pair.upstream.send(question('s'));
	const first = asked(pair);
	retry(pair, 2, first.state);
	t.is(asked(pair).id, 2);
	t.deepEqual(asked(pair).requests, first.requests);
	t.not(asked(pair).state, first.state);
	t.deepEqual(pair.upstream.received, []);
});

test('an answer of the server that came while the client was away waits for it', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question('s'));
	pair.upstream.send({id: 1, result: textResult('anyway')});
	t.is(pair.client.received.length, 1);
	retry(pair, 2, asked(pair).state, {s: answer});
	t.like(lastOf(pair.client), {id: 2, result: {resultType: 'complete', ...textResult('anyway')}});
});

for (const [what, state] of [
	['one that nobody gave', 'bridge.v1.AAAAAAAAAAAAAAAAAAAAAAAA'],
	["another server's", 'opaque'],
	['an empty one', ''],
	['the name of a built-in member', '__proto__'],
])
	test(`a requestState that is ${what} is refused`, t => {
		const pair = modernClientPair();
		retry(pair, 1, state);
		t.like(news(pair.client), [{id: 1, error: {code: -32602}}]);
		t.deepEqual(pair.upstream.received, []);
	});

test('a requestState is good for one retry', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question('s'));
	const {state} = asked(pair);
	retry(pair, 2, state, {s: answer});
	news(pair.upstream);
	retry(pair, 3, state, {s: answer});
	t.like(lastOf(pair.client), {id: 3, error: {code: -32602}});
	t.deepEqual(pair.upstream.received, []);
});

test('a question that the server takes back is not answered any more', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	news(pair.upstream);
	pair.upstream.send(question(7));
	pair.upstream.send({method: 'notifications/cancelled', params: {requestId: 7}});
	t.is(pair.client.received.length, 1);
	retry(pair, 2, asked(pair).state, {7: answer});
	t.deepEqual(pair.upstream.received, []);
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 2, result: textResult('done')});
});

test('a call given up after a retry is given up under the id that the server knows', t => {
	const pair = modernClientPair();
	ask(pair, 'first');
	pair.upstream.send(question('s'));
	retry(pair, 'second', asked(pair).state, {s: answer});
	news(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 'second', reason: 'r'}});
	t.like(news(pair.upstream), [
		{method: 'notifications/cancelled', params: {requestId: 'first', reason: 'r'}},
	]);
});

test('a retry may have the id of the call before it', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question('s'));
	retry(pair, 1, asked(pair).state, {s: answer});
	t.like(lastOf(pair.upstream), {id: 's', result: answer});
	pair.upstream.send({id: 1, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 1, result: textResult('done')});
});

test('an error that asks for a visit first sends the client there, and the retry is a new call', t => {
	const pair = modernClientPair();
	ask(pair, 1, {params: {name: 'x', arguments: {a: 1}}});
	const elicitations = [{mode: 'url', elicitationId: 'e', url: 'https://a', message: 'm'}];
	pair.upstream.send({id: 1, error: {code: -32042, message: 'go', data: {elicitations}}});
	const params = {mode: 'url', url: 'https://a', message: 'm'};
	t.deepEqual(asked(pair).requests, {e: {method: 'elicitation/create', params}});
	news(pair.upstream);
	const {state: requestState} = asked(pair);
	ask(pair, 2, {
		params: {name: 'x', arguments: {a: 1}, requestState, inputResponses: {e: {action: 'accept'}}},
	});
	t.deepEqual(news(pair.upstream), [
		{jsonrpc: '2.0', id: 2, method: 'tools/call', params: {name: 'x', arguments: {a: 1}}},
	]);
	pair.upstream.send({id: 2, result: textResult('done')});
	t.like(lastOf(pair.client), {id: 2, result: textResult('done')});
});

test('an error that asks for a visit in no known form does not end the conversation', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send({id: 1, error: {code: -32042, message: 'go', data: {elicitations: 'https://a'}}});
	t.is(lastOf(pair.client).id, 1);
	news(pair.client);
	ask(pair, 2);
	pair.upstream.send({id: 2, result: textResult('done')});
	t.like(news(pair.client), [{id: 2, result: textResult('done')}]);
});

test('questions with the ids 1 and "1" are two', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question(1));
	pair.upstream.send(question('1', 'elicitation/create', {message: 'other'}));
	retry(pair, 2, asked(pair).state, {1: answer});
	const {requests} = asked(pair);
	t.like(Object.values(requests), [{params: {message: 'other'}}]);
});

test('a question whose id is the name of a built-in member waits for its answer', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	news(pair.upstream);
	pair.upstream.send(question('__proto__'));
	retry(pair, 2, asked(pair).state);
	t.deepEqual(pair.upstream.receivedTexts, []);
	t.deepEqual(Object.keys(objectOf(asked(pair).requests)), ['__proto__']);
});

test('metadata that the modern schema has no type for is kept beside the question, and counted', t => {
	const pair = modernClientPair();
	ask(pair, 1, {can: {sampling: {}}});
	const metadata = '{"a":null,"b":0.50,"c":1}';
	const params = `{"messages":[],"maxTokens":10,"metadata":${metadata}}`;
	pair.upstream.sendText(`{"jsonrpc":"2.0","id":"q/1","method":"sampling/createMessage","params":${params}}`);
	const {result} = lastOf(pair.client);
	t.like(result, {inputRequests: {'q/1': {params: {maxTokens: 10}}}});
	t.deepEqual(objectOf(objectOf(objectOf(asked(pair).requests['q/1']).params).metadata), {c: 1});
	t.like(objectOf(result)._meta, {
		'io.bridge/original': {
			'/inputRequests/q~11/params/metadata/a': null,
			'/inputRequests/q~11/params/metadata/b': 0.5,
		},
	});
	t.deepEqual([...pair.session.losses], [['null and fractions in sampling metadata', 1]]);
});
