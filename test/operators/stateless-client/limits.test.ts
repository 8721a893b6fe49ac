import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {CallTable, MAX_CANCELLED} from '../../../lib/core/requests/call-table.js';
import {createCall} from '../../../lib/operators/stateless-client/client-call.js';
import {type JsonObject, objectOf} from '../../../lib/util/json.js';
import {envelope, lastOf, type Pair} from '../../helpers/version-stages.js';
import {heldHeap} from '../../wire/heap.js';
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

/* Memory limits of the stages that translate between the eras. */

const MiB = 2 ** 20;

const cancel = ({client}: Pair, requestId: unknown): void =>
	client.send({method: 'notifications/cancelled', params: {requestId}});

/** Heap bytes that ten runs of an action retain, without the received messages. */
function retainedBy(pair: Pair, act: () => void): number {
	act();
	for (const side of [pair.client, pair.upstream]) takeReceived(side);
	const before = heldHeap();
	for (let time = 0; time < 10; time++) act();
	for (const side of [pair.client, pair.upstream]) takeReceived(side);
	return heldHeap() - before;
}

test('does not store a cancelled request to a stateless upstream [SEC-D5]', t => {
	const pair = statelessUpstreamPair();
	const list = Array.from({length: 50_000}, () => ({}));
	let id = 0;
	const retained = retainedBy(pair, () => {
		pair.client.send({id: ++id, method: 'tools/call', params: {name: 'x', arguments: {list}}});
		cancel(pair, id);
	});
	t.true(retained < 4 * MiB, `${retained} bytes`);
});

test('does not parse a stored request to a stateless upstream [SEC-D5]', t => {
	const pair = statelessUpstreamPair();
	const list = Array.from({length: 50_000}, () => ({}));
	let id = 0;
	const retained = retainedBy(pair, () =>
		pair.client.send({id: ++id, method: 'tools/call', params: {name: 'x', arguments: {list}}}),
	);
	t.true(retained < 4 * MiB, `${retained} bytes`);
});

test('translates the late response to a cancelled request for a handshake client', t => {
	const pair = statelessUpstreamPair();
	pair.client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	cancel(pair, 1);
	pair.upstream.send({id: 1, result: {resultType: 'complete', ...textResult('late')}});
	t.deepEqual(lastOf(pair.client).result, textResult('late'));
});

test('fails a cancelled request that requires input, without a server request to the client [SEC-D5]', t => {
	const pair = statelessUpstreamPair({clientCapabilities: {elicitation: {}}});
	pair.client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	cancel(pair, 1);
	pair.upstream.send(inputRequired(1, {who: {method: 'elicitation/create', params: {}}}));
	t.like(takeReceived(pair.client), [{id: 1, result: {isError: true}}]);
});

test('stores only the capabilities of a call that server requests need [SEC-D5]', t => {
	const experimental = Object.fromEntries(Array.from({length: 1000}, (_, at) => [`x${at}`, {}]));
	const params = {_meta: envelope({elicitation: {}, experimental})};
	const call = createCall(Envelope.of({jsonrpc: '2.0', id: 1, method: 'tools/call', params}));
	t.deepEqual(call.capabilities, ['elicitation']);
	t.true(JSON.stringify(call).length < 500);
});

test('evicts the oldest cancelled calls without a response [SEC-D5]', t => {
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

test('finds a call only by the current id of its client', t => {
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

test('ignores a cancellation with a requestId of megabytes, in either era [SEC-D11]', t => {
	// Without a limit, this id would be parsed and serialized for each of the calls.
	const requestId = String.raw`"\u0041${'x'.repeat(8 * MiB)}"`;
	const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}`;
	for (const pair of [statelessClientPair(), statelessUpstreamPair()]) {
		for (let id = 1; id <= 5000; id++) sendRequest(pair, id);
		takeReceived(pair.upstream);
		pair.client.sendText(text);
		t.deepEqual(takeReceived(pair.upstream), []);
		cancel(pair, 7);
		t.like(takeReceived(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: 7}}]);
	}
});

test('removes only the server request with a cancelled id, even after a cancellation with a long id', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	for (let id = 0; id < 50; id++) pair.upstream.send(serverRequest(`s${id}`));
	const requestId = String.raw`"\u0041${'x'.repeat(8 * MiB)}"`;
	const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${requestId}}}`;
	pair.upstream.sendText(text);
	pair.upstream.send({method: 'notifications/cancelled', params: {requestId: 's7'}});
	retry(pair, 2, requiredInput(pair).state);
	t.is(Object.keys(requiredInput(pair).requests).length, 49);
});

test('rejects the 101st pending server request within a call [SEC-D5]', t => {
	const pair = statelessClientPair();
	sendRequest(pair, 1);
	takeReceived(pair.upstream);
	for (let id = 0; id < 100; id++) pair.upstream.send(serverRequest(`s${id}`));
	t.deepEqual(pair.upstream.received, []);
	pair.upstream.send(serverRequest('more'));
	t.like(takeReceived(pair.upstream), [{id: 'more', error: {code: -32_603}}]);
	retry(pair, 2, requiredInput(pair).state, {s0: {action: 'accept', content: {}}});
	t.is(Object.keys(requiredInput(pair).requests).length, 99);
});

const inputs = (count: number): JsonObject =>
	Object.fromEntries(Array.from({length: count}, (_, at) => [`q${at}`, {method: 'roots/list'}]));

test('fails a call whose result requests more than 100 inputs [SEC-D11]', t => {
	const pair = statelessUpstreamPair({clientCapabilities: {roots: {}}});
	pair.client.send({id: 1, method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(inputRequired(1, inputs(101)));
	const [failed, ...others] = takeReceived(pair.client);
	t.like(failed, {id: 1, result: {isError: true}});
	t.regex(JSON.stringify(objectOf(failed).result), /101 inputs at once; the limit is 100/);
	t.deepEqual(others, []);
	pair.client.send({id: 2, method: 'tools/call', params: {name: 'x'}});
	pair.upstream.send(inputRequired(2, inputs(100)));
	t.is(takeReceived(pair.client).length, 100);
});
