import {gzipSync} from 'node:zlib';
import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {type Answer, type ClientSession, messageIn} from '../../helpers/gateway.js';
import {peakMiB} from '../../helpers/program.js';
import {type Met, type Mood, reply} from '../../helpers/upstream.js';
import {plain, shareGateway} from './shared-gateway.js';

const use = shareGateway(
	plain('reset', 'harmless', 'statuses', 'long-status', 'bodies', 'bomb', 'endless', 'typed', 'named'),
	{limits: {message: '1MiB'}},
);

const type = (name: string) => ({'content-type': name});
const json = type('application/json');

const call = (session: ClientSession, id: number, text = ''): Promise<Answer> =>
	session.post({id, method: 'tools/call', params: {name: 'echo', arguments: {text}}});

/** Handles requests of this method with `act`, and everything else as usual. */
const toCalls =
	(act: (met: Met) => void, method = 'tools/call'): Mood =>
	met => {
		if (met.message.method === method) act(met);
		return met.message.method === method;
	};

test('never retries a call that was read, however its connection breaks [D4]', async t => {
	const {gateway, upstream, service} = use('reset');
	const session = await gateway.open(service);
	upstream.mood = toCalls(({message, request, response}) => {
		upstream.execute(message.params);
		const kind = Number(message.id) % 4;
		if (kind === 1) response.writeHead(200, {'content-type': 'application/json'}).flushHeaders();
		if (kind === 2) response.writeHead(200, {'content-length': 100}).write('{"jsonrpc":"2.0"');
		if (kind === 3) response.socket?.end();
		setImmediate(() => request.socket.resetAndDestroy());
	});
	const RUNS = 1000;
	const AT_ONCE = 50;
	for (let first = 0; first < RUNS; first += AT_ONCE) {
		const responses = await Promise.all(Array.from({length: AT_ONCE}, (_, at) => call(session, first + at)));
		for (const [at, response] of responses.entries()) {
			t.is(response.status, 502);
			t.like(messageIn(response), {id: first + at, error: {code: -31001}});
		}
	}
	t.is(upstream.executions, RUNS);
	upstream.mood = () => false;
	t.is((await call(session, RUNS)).status, 200, 'the session still works');
});

test('retries a list request once [D4]', async t => {
	const {gateway, upstream, service} = use('harmless');
	const session = await gateway.open(service);
	let resets = 1;
	upstream.mood = ({message, request}) => {
		const isReset = message.method === 'tools/list' && resets-- > 0;
		if (isReset) request.socket.resetAndDestroy();
		return isReset;
	};
	t.is((await session.post({id: 1, method: 'tools/list'})).status, 200);
	t.is(upstream.asked('tools/list').length, 2);
	resets = 2;
	t.is((await session.post({id: 2, method: 'tools/list'})).status, 502);
	t.is(upstream.asked('tools/list').length, 4);
});

for (const [status, headers, body] of [
	[400, {'content-type': 'text/plain'}, 'no'],
	[401, {'www-authenticate': 'Bearer resource_metadata="https://example.com/.well-known/x"'}, ''],
	[401, {'www-authenticate': 'Basic realm="a", Bearer', 'content-type': 'application/json'}, '{"error":"x"}'],
	[403, {'content-type': 'text/html; charset=utf-8'}, '<h1>Verböten</h1>'],
	[429, {'retry-after': '17', 'content-type': 'application/json'}, '{"error":"slow down"}'],
	[500, {'content-type': 'application/json'}, '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}'],
	[503, {'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT'}, 'later'],
	[503, {'content-encoding': 'gzip', 'content-type': 'text/plain'}, gzipSync('packed')],
] as const)
	test.serial(`forwards status ${status} with ${Object.keys(headers)} unchanged [D5]`, async t => {
		const {gateway, upstream, service} = use('statuses');
		upstream.mood = toCalls(({response}) => response.writeHead(status, headers).end(body));
		const {executions} = upstream;
		const response = await call(await gateway.open(service), 1);
		t.is(response.status, status);
		for (const [name, value] of Object.entries(headers)) t.is(response.headers.get(name), value);
		t.is(response.text, typeof body === 'string' ? body : 'packed');
		t.is(upstream.asked('tools/call').length, upstream.met.filter(({message}) => message.id === 1).length);
		t.is(upstream.executions, executions);
	});

test('restores the id of the client in the message of an HTTP error [D5]', async t => {
	const {gateway, upstream, service} = use('named');
	const error = {code: -32000, message: 'not now'};
	upstream.mood = toCalls(({response}) =>
		response.writeHead(500, json).end(JSON.stringify({jsonrpc: '2.0', id: null, error})),
	);
	const response = await call(await gateway.open(service), 7);
	t.is(response.status, 500);
	t.deepEqual(messageIn(response), {jsonrpc: '2.0', id: 7, error});
});

test('forwards the status of an endless HTTP error, but not its body [D5]', async t => {
	const {gateway, upstream, service} = use('long-status');
	upstream.mood = toCalls(({response}) => {
		const chunk = Buffer.alloc(2 ** 16, 'x');
		const writeAll = (): void => {
			while (!response.destroyed && response.write(chunk));
		};
		response.writeHead(500, {'content-type': 'text/plain', 'retry-after': '3'}).on('drain', writeAll);
		writeAll();
	});
	const response = await call(await gateway.open(service), 1);
	t.is(response.status, 500);
	t.is(response.headers.get('retry-after'), '3');
	t.like(messageIn(response), {id: 1, error: {data: {status: 500}}});
});

for (const [title, status, headers, body] of [
	['HTML', 200, type('text/html'), '<!doctype html><p>Sign in'],
	['an empty 200', 200, json, ''],
	['204', 204, {}, ''],
	['202', 202, {}, ''],
	['no content type', 200, {}, '{"jsonrpc":"2.0","id":1,"result":{}}'],
	['another content type', 200, type('text/plain'), '{"jsonrpc":"2.0","id":1,"result":{}}'],
	['half of the JSON', 200, json, '{"jsonrpc":"2.0","id":1,"resu'],
	['JSON that is not a message', 200, json, '{"ok":true}'],
	['the response to another request', 200, json, '{"jsonrpc":"2.0","id":"other","result":{}}'],
	['a batch without the response', 200, json, '[]'],
	[
		'a body shorter than its length',
		200,
		{...json, 'content-length': '1000'},
		'{"jsonrpc":"2.0","id":1,"result":{}',
	],
	['events without the response', 200, type('text/event-stream'), ': nothing\n\n'],
	['an event that is not JSON', 200, type('text/event-stream'), 'data: {"jsonrpc"\n\n'],
	['20 KB of headers', 200, {...json, 'x-long': 'x'.repeat(20_000)}, '{}'],
] as const)
	test.serial(`replies with 502 and the id of the request if the upstream sends ${title} [D7]`, async t => {
		const {gateway, upstream, service} = use('bodies');
		const {executions} = upstream;
		const session = await gateway.open(service);
		upstream.mood = toCalls(({response, message}) => {
			upstream.execute(message.params);
			response.writeHead(status, headers);
			response.write(body, () => (title.startsWith('a body') ? response.destroy() : response.end()));
		});
		const response = await call(session, 1);
		t.is(response.status, 502);
		t.like(messageIn(response), {id: 1, error: {code: -31001, data: {source: 'bridge'}}});
		t.is(upstream.executions, executions + 1, 'the call was executed once');
	});

test('compares content types case-insensitively and with parameters [D7]', async t => {
	const {gateway, upstream, service} = use('typed');
	const session = await gateway.open(service);
	upstream.mood = toCalls(met => reply(met, {result: {}}, type('Application/JSON; Charset=UTF-8')));
	t.is((await call(session, 1)).status, 200);
});

test('requests no compression and does not decompress responses [D11]', async t => {
	const {gateway, upstream, service} = use('bomb');
	const session = await gateway.open(service);
	const mebibyte = gzipSync(Buffer.alloc(2 ** 20));
	const bomb = Buffer.concat(Array.from({length: 400}, () => mebibyte));
	t.true(bomb.length < 2 ** 20);
	upstream.mood = toCalls(({response}) =>
		response.writeHead(200, {...json, 'content-encoding': 'gzip'}).end(bomb),
	);
	const before = peakMiB(gateway.running.pid);
	t.is((await call(session, 1)).status, 502);
	t.true(peakMiB(gateway.running.pid) < before + 100);
	for (const {headers} of upstream.met) t.is(headers['accept-encoding'], 'identity');
});

test('cuts off an endless response at the message limit [D12]', async t => {
	const {gateway, upstream, service} = use('endless');
	const session = await gateway.open(service);
	let wasClosed: Promise<unknown> | undefined;
	upstream.mood = toCalls(({response}) => {
		wasClosed = new Promise(resolve => response.once('close', resolve));
		const chunk = Buffer.alloc(2 ** 16, ' ');
		const writeAll = (): void => {
			while (!response.destroyed && response.write(chunk));
		};
		response.writeHead(200, json).on('drain', writeAll);
		writeAll();
	});
	const response = await call(session, 1);
	t.is(response.status, 413);
	t.like(messageIn(response), {id: 1, error: {code: -31007}});
	await wasClosed;
	upstream.mood = toCalls(({response, message}) => {
		response.writeHead(200, type('text/event-stream'));
		const notice = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${'x'.repeat(9000)}"}}\n\n`;
		for (let at = 0; at < 500; at++) response.write(notice);
		response.end(`data: ${JSON.stringify({jsonrpc: '2.0', id: message.id, result: {done: true}})}\n\n`);
	});
	const long = await call(session, 2);
	t.is(long.text.match(/notifications\/message/g)?.length, 500, 'a stream may exceed the message limit');
	t.like(messageIn(long) as Message, {id: 2, result: {done: true}});
});
