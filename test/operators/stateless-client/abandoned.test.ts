import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf} from '../../helpers/version-stages.js';
import {
	inputRequired,
	requiredInput,
	retry,
	sendRequest,
	serverRequest,
	statelessClientPair,
	statelessUpstreamPair,
	takeReceived,
	textResult,
} from '../stateless-support.js';

/* Rare but valid ways to cancel a call. */

test('translates the late response to a cancelled call to the version of the client', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	pair.upstream.send({id: 1, result: textResult('late')});
	t.true(pair.client.received.every(({result}) => objectOf(result).resultType === 'complete'));
});

test('sends the late response to a cancelled retry with the id of the retry', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('s'));
	retry(pair, 2, requiredInput(pair).state, {s: {action: 'cancel'}});
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	takeReceived(pair.client);
	pair.upstream.send({id: 1, result: textResult('late')});
	t.like(takeReceived(pair.client), [{id: 2, result: {resultType: 'complete'}}]);
});

test('finds the call of a stateless client by another notation of its id', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 'A');
	pair.upstream.send(serverRequest('s'));
	retry(pair, 'B', requiredInput(pair).state, {s: {action: 'cancel'}});
	pair.client.sendText(
		String.raw`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0042"}}`,
	);
	t.like(lastOf(pair.upstream), {method: 'notifications/cancelled', params: {requestId: 'A'}});
});

test('finds the call of a handshake client by another notation of its id', t => {
	const pair = statelessUpstreamPair({clientCapabilities: {elicitation: {}}});
	pair.client.send({id: 'A', method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(inputRequired('A', undefined, 's'));
	const {id} = lastOf(pair.upstream);
	pair.client.sendText(
		String.raw`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0041"}}`,
	);
	t.like(lastOf(pair.upstream), {method: 'notifications/cancelled', params: {requestId: id}});
});

test('tolerates cancellations without an id or of an unknown request', t => {
	for (const pair of [statelessClientPair(), statelessUpstreamPair()]) {
		pair.client.send({method: 'notifications/cancelled'});
		pair.client.send({method: 'notifications/cancelled', params: {requestId: 99}});
		pair.upstream.send({method: 'notifications/cancelled'});
		t.true(takeReceived(pair.upstream).every(({id}) => id === undefined));
		t.deepEqual(
			takeReceived(pair.client).filter(({id}) => id !== undefined),
			[],
		);
		pair.client.send({id: 1, method: 'ping'});
		t.is(pair.client.received.at(-1)?.id, 1);
	}
});

test('evicts the oldest parked call over the limit, and fails its server requests', async t => {
	const pair = statelessClientPair();
	const large = {message: 'x'.repeat(40 * 2 ** 20)};
	sendRequest(pair, 1);
	pair.upstream.send(serverRequest('first', 'elicitation/create', large));
	const {state} = requiredInput(pair);
	sendRequest(pair, 2);
	pair.upstream.send(serverRequest('second', 'elicitation/create', large));
	t.like(lastOf(pair.upstream), {id: 'first', error: {code: -32_603}});
	retry(pair, 3, state, {first: {action: 'decline'}});
	t.like(lastOf(pair.client), {id: 3, error: {code: -32_602}});
	t.true((await pair.entries()).some(({event}) => event === 'client.call.forgotten'));
});

test('sends the late response after a round of input with the id that the client cancelled', t => {
	const pair = statelessUpstreamPair({clientCapabilities: {elicitation: {}}});
	pair.client.send({id: 'A', method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(inputRequired('A', undefined, 's'));
	const {id} = lastOf(pair.upstream);
	pair.client.send({
		method: 'notifications/cancelled',
		params: {requestId: 'A', reason: 'no response within 1 s'},
	});
	t.like(lastOf(pair.upstream), {method: 'notifications/cancelled', params: {requestId: id}});
	pair.upstream.send({id, result: {resultType: 'complete', ...textResult('late')}});
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 'A', result: textResult('late')}]);
});
