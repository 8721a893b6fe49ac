import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf} from '../../helpers/version-stages.js';
import {
	ask,
	asked,
	modernClientPair,
	modernServerPair,
	needs,
	news,
	question,
	retry,
	textResult,
} from '../stateless-support.js';

/* Calls that a client gives up, in ways that are legal and rare. */

test('what still comes of a call that was given up comes in the words of the client', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	pair.upstream.send({id: 1, result: textResult('late')});
	t.true(pair.client.received.every(({result}) => objectOf(result).resultType === 'complete'));
});

test('what still comes of a call that was given up after a retry comes under the id that it had last', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	pair.upstream.send(question('s'));
	retry(pair, 2, asked(pair).state, {s: {action: 'cancel'}});
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 2}});
	news(pair.client);
	pair.upstream.send({id: 1, result: textResult('late')});
	t.like(news(pair.client), [{id: 2, result: {resultType: 'complete'}}]);
});

test('a modern client may spell the id that it gives up in another way', t => {
	const pair = modernClientPair();
	ask(pair, 'A');
	pair.upstream.send(question('s'));
	retry(pair, 'B', asked(pair).state, {s: {action: 'cancel'}});
	pair.client.sendText(
		String.raw`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0042"}}`,
	);
	t.like(lastOf(pair.upstream), {method: 'notifications/cancelled', params: {requestId: 'A'}});
});

test('a handshake client may spell the id that it gives up in another way', t => {
	const pair = modernServerPair({clientCapabilities: {elicitation: {}}});
	pair.client.send({id: 'A', method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(needs('A', undefined, 's'));
	const {id} = lastOf(pair.upstream);
	pair.client.sendText(
		String.raw`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0041"}}`,
	);
	t.like(lastOf(pair.upstream), {method: 'notifications/cancelled', params: {requestId: id}});
});

test('a cancellation without an id, and one of nothing known, do no harm', t => {
	for (const pair of [modernClientPair(), modernServerPair()]) {
		pair.client.send({method: 'notifications/cancelled'});
		pair.client.send({method: 'notifications/cancelled', params: {requestId: 99}});
		pair.upstream.send({method: 'notifications/cancelled'});
		t.true(news(pair.upstream).every(({id}) => id === undefined));
		t.deepEqual(
			news(pair.client).filter(({id}) => id !== undefined),
			[],
		);
		pair.client.send({id: 1, method: 'ping'});
		t.is(pair.client.received.at(-1)?.id, 1);
	}
});

test('of calls that hold too much while their clients are away the oldest ends, for the server too', async t => {
	const pair = modernClientPair();
	const large = {message: 'x'.repeat(40 * 2 ** 20)};
	ask(pair, 1);
	pair.upstream.send(question('first', 'elicitation/create', large));
	const {state} = asked(pair);
	ask(pair, 2);
	pair.upstream.send(question('second', 'elicitation/create', large));
	t.like(lastOf(pair.upstream), {id: 'first', error: {code: -32_603}});
	retry(pair, 3, state, {first: {action: 'decline'}});
	t.like(lastOf(pair.client), {id: 3, error: {code: -32_602}});
	t.true((await pair.entries()).some(({event}) => event === 'client.call.forgotten'));
});

test('the late response after a round of input comes under the id that the client cancelled', t => {
	const pair = modernServerPair({clientCapabilities: {elicitation: {}}});
	pair.client.send({id: 'A', method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(needs('A', undefined, 's'));
	const {id} = lastOf(pair.upstream);
	pair.client.send({
		method: 'notifications/cancelled',
		params: {requestId: 'A', reason: 'no answer within 1 s'},
	});
	t.like(lastOf(pair.upstream), {method: 'notifications/cancelled', params: {requestId: id}});
	pair.upstream.send({id, result: {resultType: 'complete', ...textResult('late')}});
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 'A', result: textResult('late')}]);
});
