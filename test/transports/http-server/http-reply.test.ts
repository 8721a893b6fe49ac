import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {bridgeOrigin, Envelope} from '../../../lib/core/envelope.js';
import {HttpReply} from '../../../lib/transports/http-server/http-reply.js';

/** Completes a reply with this message. Returns the HTTP response that the client receives. */
async function fetchReply(t: ExecutionContext, message: Envelope): Promise<Response> {
	const request = Envelope.of({jsonrpc: '2.0', id: 7, method: 'tools/list'});
	const server = createServer((_request, response) => {
		new HttpReply({
			number: 0,
			buffer: undefined,
			onSlow: () => {},
			response,
			request,
			accepts: {json: true, events: true},
			headers: () => ({}),
			acceptsPriming: () => false,
			statusOf: () => 200,
		}).complete(message);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.close();
		server.closeAllConnections();
	});
	return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const httpErrorOrigin = (body: string) => ({
	...bridgeOrigin,
	errorReply: {status: 401, headers: {'www-authenticate': 'Bearer'}, body: Buffer.from(body)},
});

test('sends the JSON-RPC error in an HTTP error of an upstream with the id of the client', async t => {
	const origin = httpErrorOrigin('{"jsonrpc":"2.0","id":"post-4","error":{"code":-32021,"message":"No"}}');
	const response = await fetchReply(
		t,
		Envelope.response('7', 'error', {code: -32021, message: 'No'}, origin),
	);
	t.is(response.status, 401);
	t.is(response.headers.get('www-authenticate'), 'Bearer');
	t.deepEqual(await response.json(), {jsonrpc: '2.0', id: 7, error: {code: -32021, message: 'No'}});
});

test('forwards an HTTP error without a JSON-RPC message unchanged', async t => {
	const origin = httpErrorOrigin('{"error":"invalid_token"}');
	const response = await fetchReply(
		t,
		Envelope.response('7', 'error', {code: -31001, message: 'No'}, origin),
	);
	t.is(response.status, 401);
	t.is(await response.text(), '{"error":"invalid_token"}');
});

for (const size of [10, 8100, 9000])
	test(`preserves a response with ${size} non-ASCII characters byte for byte [A13]`, async t => {
		const line = Buffer.from(`{"jsonrpc":"2.0","id":7,"result":{"text":"${'aé字🙂'.repeat(size / 10)}"}}\n`);
		const response = await fetchReply(t, Envelope.received(line, bridgeOrigin));
		const bytes = Buffer.from(await response.arrayBuffer());
		t.is(response.headers.get('content-length'), String(line.length - 1));
		t.true(bytes.equals(line.subarray(0, -1)));
	});

test('ignores a start of the stream after the response', async t => {
	const request = Envelope.of({jsonrpc: '2.0', id: 7, method: 'tools/list'});
	const late = new Promise<void>((resolve, reject) => {
		const server = createServer((_request, response) => {
			const reply = new HttpReply({
				number: 0,
				buffer: undefined,
				onSlow: () => {},
				response,
				request,
				accepts: {json: true, events: true},
				headers: () => ({}),
				acceptsPriming: () => false,
				statusOf: () => 200,
			});
			try {
				reply.complete(Envelope.response('7', 'result', {}));
				reply.start();
				resolve();
			} catch (error) {
				reject(error);
			}
		}).listen(0, '127.0.0.1', () => {
			const {port} = server.address() as AddressInfo;
			fetch(`http://127.0.0.1:${port}`).then(fetched => fetched.text(), reject);
		});
		t.teardown(() => {
			server.close();
			server.closeAllConnections();
		});
	});
	await t.notThrowsAsync(late);
});
