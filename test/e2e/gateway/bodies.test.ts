import {once} from 'node:events';
import {createConnection} from 'node:net';
import {gzipSync} from 'node:zlib';
import test from 'ava';
import {program, type RunningGateway, shareGateway, startGateway} from '../../helpers/gateway.js';
import {peakMiB, until} from '../../helpers/program.js';
import {
	bodyIn,
	common,
	initialize,
	request,
	sessionsOf,
	statusesIn,
	statusOf,
} from '../../helpers/raw-requests.js';

const shared = shareGateway({servers: {puppet: program('puppet'), untouched: program('puppet')}});

const accept = 'Accept: application/json, text/event-stream';
const post = (service: string, ...headers: string[]): Promise<string> =>
	shared().raw(request(`POST /mcp/${service}`, headers, initialize));

for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a'])
	test(`rejects the content type ${type}, which a form of any page can send [B4]`, async t => {
		const text = await post('untouched', accept, `Content-Type: ${type}`, 'Origin: http://localhost');
		t.is(statusOf(text), 415);
		t.notRegex(text, /^access-control/im);
		t.is(await sessionsOf(shared(), 'untouched'), 0);
	});

test('rejects an unsupported content type before the body has arrived [B4]', async t => {
	const head = `POST /mcp/untouched HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n`;
	t.is(statusOf(await shared().raw(head)), 415);
});

for (const type of [
	'application/json; charset=utf-16',
	'application/json; charset=latin1',
	'application/jsonx',
	'json',
	'application/json, text/plain',
	'application/json; boundary=a',
	'text/json',
	'',
])
	test(`rejects the content type "${type}" [B5]`, async t => {
		t.is(statusOf(await post('untouched', accept, `Content-Type: ${type}`)), 415);
		t.is(await sessionsOf(shared(), 'untouched'), 0);
	});

test('rejects a body without a content type or with two [B5]', async t => {
	t.is(statusOf(await post('untouched', accept)), 415);
	const type = 'Content-Type: application/json';
	t.is(statusOf(await post('untouched', accept, type, type)), 415);
	t.is(statusOf(await post('untouched', accept, type, 'Content-Type: text/plain')), 415);
});

for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'APPLICATION/JSON'])
	test(`accepts the content type "${type}" [B5]`, async t => {
		t.is(statusOf(await post('puppet', accept, `Content-Type: ${type}`)), 200);
	});

for (const accepted of ['text/html', 'image/png, text/plain', 'application/xml', ''])
	test(`rejects a client that accepts only "${accepted}" [B6]`, async t => {
		const text = await post('untouched', `Accept: ${accepted}`, 'Content-Type: application/json');
		t.is(statusOf(text), 406);
	});

for (const accepted of ['application/json', 'text/event-stream', '*/*', 'application/json;q=0.5, text/html'])
	test(`serves a client that accepts "${accepted}" [B6]`, async t => {
		t.is(statusOf(await post('puppet', `Accept: ${accepted}`, 'Content-Type: application/json')), 200);
	});

for (const encoding of ['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'x'])
	test(`rejects a body with the content encoding ${encoding} [B11]`, async t => {
		t.is(statusOf(await post('untouched', ...common, `Content-Encoding: ${encoding}`)), 415);
	});

test('does not decompress a gzip bomb [B11]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const before = peakMiB(gateway.running.pid);
	const bomb = gzipSync(Buffer.alloc(200 * 2 ** 20));
	const headers = [...common, 'Content-Encoding: gzip', `Content-Length: ${bomb.length}`];
	t.is(statusOf(await gateway.raw(request('POST /mcp/puppet', headers), bomb)), 415);
	t.true(peakMiB(gateway.running.pid) - before < 50);
});

/** Sends an endless body until the gateway closes the connection or 1 GiB is sent. */
async function pour(gateway: RunningGateway, headers: readonly string[], isChunked: boolean) {
	const socket = createConnection(gateway.port, '127.0.0.1');
	const piece = Buffer.alloc(2 ** 20, 'x');
	const chunk = isChunked ? Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')]) : piece;
	let text = '';
	let sent = 0;
	socket
		.on('error', () => {})
		.on('data', data => {
			text += data;
		});
	socket.write(
		`POST /mcp/puppet HTTP/1.1\r\nHost: localhost\r\n${[...common, ...headers].join('\r\n')}\r\n\r\n`,
	);
	const closed = new Promise(resolve => socket.once('close', resolve));
	while (!socket.destroyed && socket.writable && sent < 1024) {
		sent++;
		if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
	}
	socket.destroy();
	await closed;
	return {text, sent};
}

for (const isChunked of [false, true])
	test(`cuts off a body of 1 GB ${isChunked ? 'in chunks' : 'with a Content-Length'} at the limit without buffering it [B10]`, async t => {
		const gateway = await startGateway(t, {limits: {message: '8MiB'}, servers: {puppet: program('puppet')}});
		const before = peakMiB(gateway.running.pid);
		const header = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${2 ** 30}`;
		const {text, sent} = await pour(gateway, [header], isChunked);
		t.deepEqual(statusesIn(text), [413]);
		t.regex(text, /^connection: close\r$/im);
		const {error} = JSON.parse(bodyIn(text));
		t.is(error.code, -31007);
		t.is(error.data.limit, 8 * 2 ** 20);
		t.true(sent < 256);
		t.true(peakMiB(gateway.running.pid) - before < 60);
		t.is((await gateway.open('puppet')).welcome.id, 'first');
	});

test('accepts a body that is just within the limit [B10]', async t => {
	const gateway = await startGateway(t, {limits: {message: '1MiB'}, servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const rest = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":""}}'.length;
	const text = 'x'.repeat(2 ** 20 - rest);
	t.deepEqual((await session.request(1, 'echo', {a: text})).result, {a: text});
	t.is((await session.post({id: 1, method: 'echo', params: {a: `${text}x`}})).status, 413);
});

test('bounds the bodies of all clients together, and rejects others with Retry-After [B10]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const {headers} = await gateway.open('puppet');
	const id = `Mcp-Session-Id: ${headers['mcp-session-id']}`;
	const pidRequest = '{"jsonrpc":"2.0","id":1,"method":"pid"}';
	const before = peakMiB(gateway.running.pid);
	const [size, count] = [12 * 2 ** 20, 60];
	const rest = Buffer.alloc(size, ' ');
	const uploads = Array.from({length: count}, () => {
		const socket = createConnection(gateway.port, '127.0.0.1');
		t.teardown(() => socket.destroy());
		const closed = new Promise(resolve => socket.on('error', () => {}).once('close', resolve));
		let text = '';
		socket.on('data', data => {
			text += data;
		});
		const length = `Content-Length: ${size + pidRequest.length}`;
		socket.write(
			`POST /mcp/puppet HTTP/1.1\r\nHost: localhost\r\n${[...common, id, length, 'Connection: close'].join('\r\n')}\r\n\r\n`,
		);
		socket.write(rest);
		return {socket, closed, status: () => statusesIn(text)[0], text: () => text};
	});
	// Bodies over the limit are rejected. The others stay incomplete.
	const limit = 256 * 2 ** 20;
	const accepted = () => uploads.filter(({status}) => status() !== 503);
	await until(() => accepted().length * size <= limit, 60_000);
	const rejected = uploads.filter(({status}) => status() === 503);
	t.regex(rejected[0]?.text() ?? '', /^retry-after: 1\r$/im);
	t.like(JSON.parse(bodyIn(rejected[0]?.text() ?? '')), {error: {code: -31003, data: {kind: 'overloaded'}}});
	t.true(peakMiB(gateway.running.pid) - before < 500, `${peakMiB(gateway.running.pid)} after ${before}`);
	t.is((await gateway.open('puppet')).welcome.id, 'first', 'small bodies are still accepted');
	const [last, ...others] = accepted();
	t.truthy(last, 'some bodies were accepted');
	for (const {socket} of others) socket.destroy();
	last?.socket.write(pidRequest);
	await last?.closed;
	t.is(last?.status(), 200);
	const text = 'x'.repeat(size);
	const session = await gateway.open('puppet');
	t.like(await session.request(1, 'echo', {text}), {id: 1, result: {text}}, 'the memory is released');
});
