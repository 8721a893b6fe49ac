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

/** Does this to calls of tools, and what a good server does to all else. */
const toCalls =
	(act: (met: Met) => void, method = 'tools/call'): Mood =>
	met => {
		if (met.message.method === method) act(met);
		return met.message.method === method;
	};

test('a call that was read is never sent again, however its connection breaks [D4]', async t => {
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
		const answers = await Promise.all(Array.from({length: AT_ONCE}, (_, at) => call(session, first + at)));
		for (const [at, answer] of answers.entries()) {
			t.is(answer.status, 502);
			t.like(messageIn(answer), {id: first + at, error: {code: -31001}});
		}
	}
	t.is(upstream.executions, RUNS);
	upstream.mood = () => false;
	t.is((await call(session, RUNS)).status, 200, 'and the session lives on');
});

test('a list that was asked for may be asked for once more [D4]', async t => {
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
	test.serial(`status ${status} with ${Object.keys(headers)} reaches the client unchanged [D5]`, async t => {
		const {gateway, upstream, service} = use('statuses');
		upstream.mood = toCalls(({response}) => response.writeHead(status, headers).end(body));
		const {executions} = upstream;
		const answer = await call(await gateway.open(service), 1);
		t.is(answer.status, status);
		for (const [name, value] of Object.entries(headers)) t.is(answer.headers.get(name), value);
		t.is(answer.text, typeof body === 'string' ? body : 'packed');
		t.is(upstream.asked('tools/call').length, upstream.met.filter(({message}) => message.id === 1).length);
		t.is(upstream.executions, executions);
	});

test('a message in a refusal has the id that the client knows [D5]', async t => {
	const {gateway, upstream, service} = use('named');
	const error = {code: -32000, message: 'not now'};
	upstream.mood = toCalls(({response}) =>
		response.writeHead(500, json).end(JSON.stringify({jsonrpc: '2.0', id: null, error})),
	);
	const answer = await call(await gateway.open(service), 7);
	t.is(answer.status, 500);
	t.deepEqual(messageIn(answer), {jsonrpc: '2.0', id: 7, error});
});

test('a refusal without an end keeps its status, and not its body [D5]', async t => {
	const {gateway, upstream, service} = use('long-status');
	upstream.mood = toCalls(({response}) => {
		const chunk = Buffer.alloc(2 ** 16, 'x');
		const more = (): void => {
			while (!response.destroyed && response.write(chunk));
		};
		response.writeHead(500, {'content-type': 'text/plain', 'retry-after': '3'}).on('drain', more);
		more();
	});
	const answer = await call(await gateway.open(service), 1);
	t.is(answer.status, 500);
	t.is(answer.headers.get('retry-after'), '3');
	t.like(messageIn(answer), {id: 1, error: {data: {status: 500}}});
});

for (const [what, status, headers, body] of [
	['HTML', 200, type('text/html'), '<!doctype html><p>Sign in'],
	['an empty 200', 200, json, ''],
	['204', 204, {}, ''],
	['202', 202, {}, ''],
	['no type', 200, {}, '{"jsonrpc":"2.0","id":1,"result":{}}'],
	['another type', 200, type('text/plain'), '{"jsonrpc":"2.0","id":1,"result":{}}'],
	['half of the JSON', 200, json, '{"jsonrpc":"2.0","id":1,"resu'],
	['JSON that is no message', 200, json, '{"ok":true}'],
	['the answer to something else', 200, json, '{"jsonrpc":"2.0","id":"other","result":{}}'],
	['a batch without the answer', 200, json, '[]'],
	['less than its length', 200, {...json, 'content-length': '1000'}, '{"jsonrpc":"2.0","id":1,"result":{}'],
	['events without the answer', 200, type('text/event-stream'), ': nothing\n\n'],
	['an event that is no JSON', 200, type('text/event-stream'), 'data: {"jsonrpc"\n\n'],
	['20 KB of headers', 200, {...json, 'x-long': 'x'.repeat(20_000)}, '{}'],
] as const)
	test.serial(`${what} for an answer is a 502 with the id of the request [D7]`, async t => {
		const {gateway, upstream, service} = use('bodies');
		const {executions} = upstream;
		const session = await gateway.open(service);
		upstream.mood = toCalls(({response, message}) => {
			upstream.execute(message.params);
			response.writeHead(status, headers);
			response.write(body, () => (what.startsWith('less') ? response.destroy() : response.end()));
		});
		const answer = await call(session, 1);
		t.is(answer.status, 502);
		t.like(messageIn(answer), {id: 1, error: {code: -31001, data: {source: 'bridge'}}});
		t.is(upstream.executions, executions + 1, 'and it was carried out once');
	});

test('types are compared in any case, with parameters [D7]', async t => {
	const {gateway, upstream, service} = use('typed');
	const session = await gateway.open(service);
	upstream.mood = toCalls(met => reply(met, {result: {}}, type('Application/JSON; Charset=UTF-8')));
	t.is((await call(session, 1)).status, 200);
});

test('nothing is asked for packed, and what comes packed all the same is not unpacked [D11]', async t => {
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

test('an answer without an end is cut at the limit for a message [D12]', async t => {
	const {gateway, upstream, service} = use('endless');
	const session = await gateway.open(service);
	let wasClosed: Promise<unknown> | undefined;
	upstream.mood = toCalls(({response}) => {
		wasClosed = new Promise(resolve => response.once('close', resolve));
		const chunk = Buffer.alloc(2 ** 16, ' ');
		const more = (): void => {
			while (!response.destroyed && response.write(chunk));
		};
		response.writeHead(200, json).on('drain', more);
		more();
	});
	const answer = await call(session, 1);
	t.is(answer.status, 413);
	t.like(messageIn(answer), {id: 1, error: {code: -31007}});
	await wasClosed;
	upstream.mood = toCalls(({response, message}) => {
		response.writeHead(200, type('text/event-stream'));
		const notice = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${'x'.repeat(9000)}"}}\n\n`;
		for (let at = 0; at < 500; at++) response.write(notice);
		response.end(`data: ${JSON.stringify({jsonrpc: '2.0', id: message.id, result: {done: true}})}\n\n`);
	});
	const long = await call(session, 2);
	t.is(long.text.match(/notifications\/message/g)?.length, 500, 'a stream may be longer than a message');
	t.like(messageIn(long) as Message, {id: 2, result: {done: true}});
});
