import test from 'ava';
import type {Subject} from 'rxjs';
import type {Envelope} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import {memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {RpcClient} from '../../lib/upstream/rpc-client.js';
import {objectOf} from '../../lib/util/json.js';

const start = (timeoutMs = 60_000) => {
	const server = memoryEndpoint('files');
	return {server, client: new RpcClient(server, timeoutMs)};
};

test('matches responses to requests by id, in any order', async t => {
	const {server, client} = start();
	const responses = [client.request('a', {x: 1}), client.request('b')];
	t.deepEqual(server.received, [
		{jsonrpc: '2.0', id: 1, method: 'a', params: {x: 1}},
		{jsonrpc: '2.0', id: 2, method: 'b', params: {}},
	]);
	server.send({id: 2, error: {code: -1, message: 'no'}});
	server.send({id: 1, result: {y: 2}});
	t.like(await Promise.all(responses), [{result: {y: 2}}, {error: {code: -1}}]);
});

test('ignores noise, notifications and responses without a request', async t => {
	const {server, client} = start();
	const response = client.request('a');
	server.sendText('Server is listening');
	server.sendText('{"jsonrpc":"2.0","id":true,"result":{}}');
	server.send({method: 'notifications/message', params: {}});
	server.send({id: 99, result: {}});
	server.send({id: '1', result: {wrong: true}});
	server.send({id: 1, result: {right: true}});
	t.like(await response, {result: {right: true}});
	t.is(server.received.length, 1);
});

test('responds to a ping and rejects any other request', t => {
	const {server} = start();
	server.send({id: 's', method: 'ping'});
	server.send({id: 5, method: 'roots/list'});
	t.like(server.received, [
		{id: 's', result: {}},
		{id: 5, error: {code: -32601, message: 'Method not found: roots/list'}},
	]);
});

test('sends a notification without an id', t => {
	const {server, client} = start();
	client.notify('notifications/initialized');
	t.deepEqual(server.received, [{jsonrpc: '2.0', method: 'notifications/initialized'}]);
});

test('rejects a request that gets no response in time', async t => {
	const {client} = start(1);
	const error = await t.throwsAsync(client.request('slow'), {
		instanceOf: BridgeError,
		code: 'ERR_UPSTREAM_TIMEOUT',
	});
	t.regex(error.message, /files did not respond to slow within 0\.001 s/);
});

test('rejects pending and later requests when the upstream disconnects', async t => {
	const {server, client} = start();
	const response = client.request('a');
	server.end();
	const expected = {instanceOf: BridgeError, code: 'ERR_SESSION_CLOSED'};
	await t.throwsAsync(response, expected);
	await t.throwsAsync(client.request('b'), expected);
});

test('rejects pending requests with the error of the upstream', async t => {
	const {server, client} = start();
	const response = client.request('a');
	const exitError = new BridgeError('ERR_CHILD_EXITED', 'It died.', 'Look.');
	server.end(exitError);
	t.is(await t.throwsAsync(response), exitError);
});

/** Responds to requests with the pages of a list, in rotation. */
function paged(pages: ReadonlyArray<{items: unknown; nextCursor?: string}>) {
	const {server, client} = start();
	let at = 0;
	(server.outgoing as Subject<Envelope>).subscribe(({body: {id}}) =>
		queueMicrotask(() => server.send({id, result: pages[at++ % pages.length]})),
	);
	return {server, client};
}

test('reads a list page by page, with the params in each request', async t => {
	const {server, client} = paged([{items: [1, 2], nextCursor: 'c'}, {items: [3]}]);
	t.deepEqual(await client.listAll('x/list', 'items', {_meta: {}}), [1, 2, 3]);
	t.like(server.received, [{params: {_meta: {}}}, {params: {_meta: {}, cursor: 'c'}}]);
	t.false('cursor' in objectOf(server.received[0]?.params));
});

test('stops reading an endless list after 100 pages', async t => {
	const {client} = paged([{items: [1], nextCursor: 'again'}]);
	t.is((await client.listAll('x/list', 'items')).length, 100);
});

test('returns no items if the list is not an array', async t => {
	const {client} = paged([{items: 'none'}]);
	t.deepEqual(await client.listAll('x/list', 'items'), []);
});

test('returns no items if the upstream rejects the list', async t => {
	const {server, client} = start();
	const list = client.listAll('x/list', 'items');
	server.send({id: 1, error: {code: -32601, message: 'no'}});
	t.deepEqual(await list, []);
});
