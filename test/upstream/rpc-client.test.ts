import test from 'ava';
import type {Subject} from 'rxjs';
import type {Envelope} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import {memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {RpcClient} from '../../lib/upstream/rpc-client.js';
import {objectOf} from '../../lib/util/json.js';

const start = (timeoutMs = 60_000) => {
	const server = memoryEndpoint('files');
	return {server, asker: new RpcClient(server, timeoutMs)};
};

test('an answer goes to who asked, in whatever order answers come', async t => {
	const {server, asker} = start();
	const answers = [asker.request('a', {x: 1}), asker.request('b')];
	t.deepEqual(server.received, [
		{jsonrpc: '2.0', id: 1, method: 'a', params: {x: 1}},
		{jsonrpc: '2.0', id: 2, method: 'b', params: {}},
	]);
	server.send({id: 2, error: {code: -1, message: 'no'}});
	server.send({id: 1, result: {y: 2}});
	t.like(await Promise.all(answers), [{result: {y: 2}}, {error: {code: -1}}]);
});

test('noise, notifications and answers to nothing are passed over', async t => {
	const {server, asker} = start();
	const answer = asker.request('a');
	server.sendText('Server is listening');
	server.sendText('{"jsonrpc":"2.0","id":true,"result":{}}');
	server.send({method: 'notifications/message', params: {}});
	server.send({id: 99, result: {}});
	server.send({id: '1', result: {wrong: true}});
	server.send({id: 1, result: {right: true}});
	t.like(await answer, {result: {right: true}});
	t.is(server.received.length, 1);
});

test('a ping is answered, and any other question refused', t => {
	const {server} = start();
	server.send({id: 's', method: 'ping'});
	server.send({id: 5, method: 'roots/list'});
	t.like(server.received, [
		{id: 's', result: {}},
		{id: 5, error: {code: -32601, message: 'Method not found: roots/list'}},
	]);
});

test('a notification has no id', t => {
	const {server, asker} = start();
	asker.notify('notifications/initialized');
	t.deepEqual(server.received, [{jsonrpc: '2.0', method: 'notifications/initialized'}]);
});

test('a server that does not answer in time is an error that says so', async t => {
	const {asker} = start(1);
	const error = await t.throwsAsync(asker.request('slow'), {
		instanceOf: BridgeError,
		code: 'ERR_UPSTREAM_TIMEOUT',
	});
	t.regex(error.message, /files did not answer slow within 0\.001 s/);
});

test('a server that ends is an error for who asked, and for who asks later', async t => {
	const {server, asker} = start();
	const answer = asker.request('a');
	server.end();
	const expected = {instanceOf: BridgeError, code: 'ERR_SESSION_CLOSED'};
	await t.throwsAsync(answer, expected);
	await t.throwsAsync(asker.request('b'), expected);
});

test('a server that dies is an error with what it died of', async t => {
	const {server, asker} = start();
	const answer = asker.request('a');
	const death = new BridgeError('ERR_CHILD_EXITED', 'It died.', 'Look.');
	server.end(death);
	t.is(await t.throwsAsync(answer), death);
});

/** Answers requests with pages of a list, until it has no more. */
function paged(pages: ReadonlyArray<{items: unknown; nextCursor?: string}>) {
	const {server, asker} = start();
	let at = 0;
	(server.outgoing as Subject<Envelope>).subscribe(({body: {id}}) =>
		queueMicrotask(() => server.send({id, result: pages[at++ % pages.length]})),
	);
	return {server, asker};
}

test('a list is read page after page, with what belongs to each request', async t => {
	const {server, asker} = paged([{items: [1, 2], nextCursor: 'c'}, {items: [3]}]);
	t.deepEqual(await asker.listAll('x/list', 'items', {_meta: {}}), [1, 2, 3]);
	t.like(server.received, [{params: {_meta: {}}}, {params: {_meta: {}, cursor: 'c'}}]);
	t.false('cursor' in objectOf(server.received[0]?.params));
});

test('a list without an end is read no further than is good', async t => {
	const {asker} = paged([{items: [1], nextCursor: 'again'}]);
	t.is((await asker.listAll('x/list', 'items')).length, 100);
});

test('what is no list has nothing in it', async t => {
	const {asker} = paged([{items: 'none'}]);
	t.deepEqual(await asker.listAll('x/list', 'items'), []);
});

test('of a list that the server refuses there is nothing', async t => {
	const {server, asker} = start();
	const list = asker.listAll('x/list', 'items');
	server.send({id: 1, error: {code: -32601, message: 'no'}});
	t.deepEqual(await list, []);
});
