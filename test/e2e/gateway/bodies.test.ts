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
const ask = (service: string, ...headers: string[]): Promise<string> =>
	shared().raw(request(`POST /mcp/${service}`, headers, initialize));

for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a'])
	test(`what a form of any page can send, ${type}, is refused [B4]`, async t => {
		const text = await ask('untouched', accept, `Content-Type: ${type}`, 'Origin: http://localhost');
		t.is(statusOf(text), 415);
		t.notRegex(text, /^access-control/im);
		t.is(await sessionsOf(shared(), 'untouched'), 0);
	});

test('a type that is refused is refused before the body is there [B4]', async t => {
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
	test(`the type "${type}" is refused [B5]`, async t => {
		t.is(statusOf(await ask('untouched', accept, `Content-Type: ${type}`)), 415);
		t.is(await sessionsOf(shared(), 'untouched'), 0);
	});

test('a body without a type, or with two, is refused [B5]', async t => {
	t.is(statusOf(await ask('untouched', accept)), 415);
	const type = 'Content-Type: application/json';
	t.is(statusOf(await ask('untouched', accept, type, type)), 415);
	t.is(statusOf(await ask('untouched', accept, type, 'Content-Type: text/plain')), 415);
});

for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'APPLICATION/JSON'])
	test(`the type "${type}" is taken [B5]`, async t => {
		t.is(statusOf(await ask('puppet', accept, `Content-Type: ${type}`)), 200);
	});

for (const accepted of ['text/html', 'image/png, text/plain', 'application/xml', ''])
	test(`a client that only takes "${accepted}" is refused [B6]`, async t => {
		const text = await ask('untouched', `Accept: ${accepted}`, 'Content-Type: application/json');
		t.is(statusOf(text), 406);
	});

for (const accepted of ['application/json', 'text/event-stream', '*/*', 'application/json;q=0.5, text/html'])
	test(`a client that takes "${accepted}" is answered [B6]`, async t => {
		t.is(statusOf(await ask('puppet', `Accept: ${accepted}`, 'Content-Type: application/json')), 200);
	});

for (const encoding of ['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'x'])
	test(`a body with the encoding ${encoding} is refused [B11]`, async t => {
		t.is(statusOf(await ask('untouched', ...common, `Content-Encoding: ${encoding}`)), 415);
	});

test('a bomb of compressed zeros is not unpacked [B11]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const before = peakMiB(gateway.running.pid);
	const bomb = gzipSync(Buffer.alloc(200 * 2 ** 20));
	const headers = [...common, 'Content-Encoding: gzip', `Content-Length: ${bomb.length}`];
	t.is(statusOf(await gateway.raw(request('POST /mcp/puppet', headers), bomb)), 415);
	t.true(peakMiB(gateway.running.pid) - before < 50);
});

/** Sends a body without an end, until the gateway has had enough. */
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
	test(`a body of 1 GB ${isChunked ? 'in chunks' : 'of a length that is told'} is cut off at the limit, unheld [B10]`, async t => {
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

test('a body that is just within the limit is taken [B10]', async t => {
	const gateway = await startGateway(t, {limits: {message: '1MiB'}, servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const rest = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":""}}'.length;
	const text = 'x'.repeat(2 ** 20 - rest);
	t.deepEqual((await session.request(1, 'echo', {a: text})).result, {a: text});
	t.is((await session.post({id: 1, method: 'echo', params: {a: `${text}x`}})).status, 413);
});

test('the bodies of all clients together are bounded, and who finds no room is told to come back [B10]', async t => {
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
	// As many are refused as there is no room for; the others wait to be told the rest.
	const room = 256 * 2 ** 20;
	const taken = () => uploads.filter(({status}) => status() !== 503);
	await until(() => taken().length * size <= room, 60_000);
	const refused = uploads.filter(({status}) => status() === 503);
	t.regex(refused[0]?.text() ?? '', /^retry-after: 1\r$/im);
	t.like(JSON.parse(bodyIn(refused[0]?.text() ?? '')), {error: {code: -31003, data: {kind: 'overloaded'}}});
	t.true(peakMiB(gateway.running.pid) - before < 500, `${peakMiB(gateway.running.pid)} after ${before}`);
	t.is((await gateway.open('puppet')).welcome.id, 'first', 'what is short needs no such room');
	const [last, ...others] = taken();
	t.truthy(last, 'some are taken');
	for (const {socket} of others) socket.destroy();
	last?.socket.write(pidRequest);
	await last?.closed;
	t.is(last?.status(), 200);
	const text = 'x'.repeat(size);
	const session = await gateway.open('puppet');
	t.like(await session.request(1, 'echo', {text}), {id: 1, result: {text}}, 'there is room again');
});
