import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {CallTable, MAX_CANCELLED} from '../../../lib/core/requests/call-table.js';
import {createCall} from '../../../lib/operators/stateless-client/client-call.js';
import {type JsonObject, objectOf} from '../../../lib/util/json.js';
import {envelope, lastOf, type Pair} from '../../helpers/version-stages.js';
import {heldHeap} from '../../wire/heap.js';
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

/* What the stages between the eras keep of a peer, and what they compare. */

const MiB = 2 ** 20;

const cancel = ({client}: Pair, requestId: unknown): void =>
	client.send({method: 'notifications/cancelled', params: {requestId}});

/** Bytes of the heap that are kept when something was done, and both sides have forgotten what they received. */
function keptBy(pair: Pair, act: () => void): number {
	act();
	for (const side of [pair.client, pair.upstream]) news(side);
	const before = heldHeap();
	for (let time = 0; time < 10; time++) act();
	for (const side of [pair.client, pair.upstream]) news(side);
	return heldHeap() - before;
}

test('a cancelled request to a stateless server is not kept [SEC-D5]', t => {
	const pair = modernServerPair();
	const list = Array.from({length: 50_000}, () => ({}));
	let id = 0;
	const kept = keptBy(pair, () => {
		pair.client.send({id: ++id, method: 'tools/call', params: {name: 'x', arguments: {list}}});
		cancel(pair, id);
	});
	t.true(kept < 4 * MiB, `${kept} bytes`);
});

test('a pending request to a stateless server is kept as its bytes [SEC-D5]', t => {
	const pair = modernServerPair();
	const list = Array.from({length: 50_000}, () => ({}));
	let id = 0;
	const kept = keptBy(pair, () =>
		pair.client.send({id: ++id, method: 'tools/call', params: {name: 'x', arguments: {list}}}),
	);
	t.true(kept < 4 * MiB, `${kept} bytes`);
});

test('the late response to a cancelled request comes in the version of the client', t => {
	const pair = modernServerPair();
	pair.client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	cancel(pair, 1);
	pair.upstream.send({id: 1, result: {resultType: 'complete', ...textResult('late')}});
	t.deepEqual(lastOf(pair.client).result, textResult('late'));
});

test('a cancelled request that needs input is failed, and no server request reaches the client [SEC-D5]', t => {
	const pair = modernServerPair({clientCapabilities: {elicitation: {}}});
	pair.client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	cancel(pair, 1);
	pair.upstream.send(needs(1, {who: {method: 'elicitation/create', params: {}}}));
	t.like(news(pair.client), [{id: 1, result: {isError: true}}]);
});

test('of the capabilities of a call only those that a server may use are kept [SEC-D5]', t => {
	const experimental = Object.fromEntries(Array.from({length: 1000}, (_, at) => [`x${at}`, {}]));
	const params = {_meta: envelope({elicitation: {}, experimental})};
	const call = createCall(Envelope.of({jsonrpc: '2.0', id: 1, method: 'tools/call', params}));
	t.deepEqual(call.capabilities, ['elicitation']);
	t.true(JSON.stringify(call).length < 500);
});

test('of cancelled calls without a response the oldest are evicted [SEC-D5]', t => {
	const table = new CallTable();
	for (let at = 0; at < MAX_CANCELLED + 10; at++) {
		const call = {key: `${at}`, upstreamKey: `${at}`};
		table.set(call);
		table.cancel(call);
	}
	t.is([...table.values()].length, MAX_CANCELLED);
	t.is(table.find('9'), undefined);
	t.like(table.take('10'), {key: '10'});
});

test('a call is found by the id that its client waits with, and by no other', t => {
	const table = new CallTable();
	const call = {key: '1', upstreamKey: '1'};
	table.set(call);
	table.rename(call, '2');
	t.is(table.find('1'), undefined);
	t.is(table.find('2'), call);
	table.rename(call, '1');
	t.is(table.find('1'), call);
	t.is(table.take('1'), call);
	t.is(table.find('1'), undefined);
});

test('a requestId of megabytes is compared with no call, in either era [SEC-D11]', t => {
	// Without a limit, this text would be parsed and written anew for each of the calls.
	const requestId = String.raw`"\u0041${'x'.repeat(8 * MiB)}"`;
	const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}`;
	for (const pair of [modernClientPair(), modernServerPair()]) {
		for (let id = 1; id <= 5000; id++) ask(pair, id);
		news(pair.upstream);
		pair.client.sendText(text);
		t.deepEqual(news(pair.upstream), []);
		cancel(pair, 7);
		t.like(news(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: 7}}]);
	}
});

test('a server withdraws one of many requests, and no other, with an id of any length', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	for (let id = 0; id < 50; id++) pair.upstream.send(question(`s${id}`));
	const requestId = String.raw`"\u0041${'x'.repeat(8 * MiB)}"`;
	const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}`;
	pair.upstream.sendText(text);
	pair.upstream.send({method: 'notifications/cancelled', params: {requestId: 's7'}});
	retry(pair, 2, asked(pair).state);
	t.is(Object.keys(asked(pair).requests).length, 49);
});

test('a server that sends more requests within a call than may wait gets an error [SEC-D5]', t => {
	const pair = modernClientPair();
	ask(pair, 1);
	news(pair.upstream);
	for (let id = 0; id < 100; id++) pair.upstream.send(question(`s${id}`));
	t.deepEqual(pair.upstream.received, []);
	pair.upstream.send(question('more'));
	t.like(news(pair.upstream), [{id: 'more', error: {code: -32_603}}]);
	retry(pair, 2, asked(pair).state, {s0: {action: 'accept', content: {}}});
	t.is(Object.keys(asked(pair).requests).length, 99);
});

const inputs = (count: number): JsonObject =>
	Object.fromEntries(Array.from({length: count}, (_, at) => [`q${at}`, {method: 'roots/list'}]));

test('a result that requests more inputs than may be ends its call with an error [SEC-D11]', t => {
	const pair = modernServerPair({clientCapabilities: {roots: {}}});
	pair.client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(needs(1, inputs(101)));
	const [failed, ...others] = news(pair.client);
	t.like(failed, {id: 1, result: {isError: true}});
	t.regex(JSON.stringify(objectOf(failed).result), /101 inputs at once; the limit is 100/);
	t.deepEqual(others, []);
	pair.client.send({id: 2, method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(needs(2, inputs(100)));
	t.is(news(pair.client).length, 100);
});
