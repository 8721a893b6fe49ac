import {connect} from 'node:net';
import {networkInterfaces} from 'node:os';
import test, {type ExecutionContext} from 'ava';
import {freePort} from '../../helpers/free-port.js';
import {logged, until} from '../../helpers/program.js';
import {bodyIn, common, request, statusesIn, statusOf} from '../../helpers/raw-requests.js';
import {shareRaw} from './support.js';
import {dial} from './tcp.js';

const shared = shareRaw(() => ['--mcp-port', '0', '--flush-millis', '20']);

let port = 0;
test.before(async () => {
	port = await freePort();
});

/** A tool call with a visible effect: if it is executed, it opens a port. */
const rule = (): string =>
	JSON.stringify({
		jsonrpc: '2.0',
		id: 1,
		method: 'tools/call',
		params: {
			name: 'add-port-rule',
			arguments: {local_port: port, target_host: '127.0.0.1', target_port: 9},
		},
	});

/** Sends bytes to the control server and returns all data until it closes the connection. */
function send(...parts: Array<string | Uint8Array>): Promise<string> {
	return new Promise(resolve => {
		const socket = connect(Number(new URL(shared().endpoint).port), '127.0.0.1');
		const chunks: Buffer[] = [];
		socket.on('data', chunk => chunks.push(chunk));
		socket.on('error', () => {});
		socket.on('close', () => resolve(String(Buffer.concat(chunks))));
		for (const part of parts) socket.write(part);
	});
}

const post = (headers: readonly string[] = [], host?: string): string =>
	request('POST /mcp', [...common, ...headers], rule(), host);

/** Asserts the status of a rejected request and that it had no effect. */
async function assertRejected(t: ExecutionContext, text: string, ...statuses: number[]): Promise<void> {
	t.true(statuses.includes(statusOf(text)), text);
	await t.throwsAsync(dial(port), {code: 'ECONNREFUSED'});
}

test('the control server listens on loopback only [I10] [B1]', async t => {
	const others = Object.values(networkInterfaces())
		.flat()
		.filter(item => item?.family === 'IPv4' && !item.internal);
	const {port: own} = new URL(shared().endpoint);
	for (const host of ['127.0.0.2', ...others.map(item => String(item?.address))])
		await t.throwsAsync(dial(Number(own), host), {code: 'ECONNREFUSED'}, host);
});

for (const origin of [
	'http://evil.example',
	'null',
	'http://localhost.evil.example',
	'http://localhost@evil.example',
	'http://127.0.0.1.evil.example',
	'file://',
	'localhost',
	'',
	'http://evil.example#localhost',
])
	test(`rejects a request from the origin "${origin}" [I10] [B2]`, async t => {
		const text = await send(post([`Origin: ${origin}`]));
		await assertRejected(t, text, 403);
		t.false('id' in JSON.parse(bodyIn(text)));
	});

test('rejects a request with two origins [I10] [B2]', async t => {
	await assertRejected(t, await send(post(['Origin: http://localhost', 'Origin: http://127.0.0.1'])), 403);
});

test('logs a rejected origin [I10] [B2]', async t => {
	await send(post(['Origin: http://logged.example']));
	const isLogged = (): boolean =>
		logged(shared().running, 'http.origin_rejected').some(({origin}) => origin === 'http://logged.example');
	await t.notThrowsAsync(until(isLogged));
});

for (const host of [
	'evil.example',
	'localhost.evil.example',
	'127.0.0.1.evil.example',
	'localhost@evil.example',
	'localhost.',
	'[::2]',
	'localhost:123456',
	'0.0.0.0',
	'localhost,evil.example',
	'',
])
	test(`rejects a request for the host "${host}" [I10] [B3]`, async t => {
		await assertRejected(t, await send(post().replace('Host: localhost', `Host: ${host}`)), 403, 400);
	});

test('rejects a request without a host, with two hosts or with an absolute URL [I10] [B3]', async t => {
	await assertRejected(t, await send(post([], '')), 400);
	await assertRejected(t, await send(post(['Host: localhost'])), 400);
	for (const target of ['http://evil.example/mcp', 'http://localhost/mcp', '//evil.example/mcp'])
		await assertRejected(t, await send(request(`POST ${target}`, common, rule())), 400, 403);
});

for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
	test(`rejects ${type}, which a form of any page can send [I10] [B4]`, async t => {
		const text = await send(request('POST /mcp', [`Content-Type: ${type}`, 'Accept: */*'], rule()));
		await assertRejected(t, text, 415);
		t.notRegex(text, /access-control/i);
	});

test('rejects a content type before the body arrives [I10] [B4]', async t => {
	const head = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Content-Type: text/plain', 'Content-Length: 9'];
	t.is(statusOf(await send(`${head.join('\r\n')}\r\nConnection: close\r\n\r\n`)), 415);
});

for (const type of ['application/json; charset=utf-16', 'application/jsonp', 'text/json', 'json', ''])
	test(`rejects the content type "${type}" [I10] [B5]`, async t => {
		await assertRejected(t, await send(request('POST /mcp', [`Content-Type: ${type}`], rule())), 415);
	});

test('rejects a body without a content type or with two [I10] [B5]', async t => {
	await assertRejected(t, await send(request('POST /mcp', [], rule())), 415);
	await assertRejected(t, await send(post(['Content-Type: application/json'])), 415, 400);
});

for (const path of [
	'/mcp/constructor',
	'/mcp/__proto__',
	'/mcp/..',
	'/mcp/%2e%2e',
	'/mcp%2f',
	'/x/../mcp',
	'/mcp//',
	'/mcp/',
	'/MCP',
	'/mcp;a',
	'/мcp',
	`/mcp/${'a'.repeat(10_000)}`,
	'/',
	'/etc/passwd',
	'/.well-known/x',
])
	test(`rejects the path ${path.slice(0, 40)} [I10] [B12]`, async t => {
		const text = await send(Buffer.from(request(`POST ${path}`, common, rule())));
		await assertRejected(t, text, 404, 400);
		t.notRegex(bodyIn(text), /passwd|constructor|__proto__|aaaa/);
	});

for (const method of ['PUT', 'PATCH', 'TRACE', 'OPTIONS', 'HEAD', 'GET', 'DELETE'])
	test(`rejects ${method} and names the allowed methods [I10] [B13]`, async t => {
		const text = await send(request(`${method} /mcp`));
		t.is(statusOf(text), 405);
		t.regex(text, /^allow: .*POST/im);
		t.notRegex(text, /access-control/i);
	});

test('rejects CONNECT and upgrades [I10] [B13]', async t => {
	const second = request('GET /mcp');
	t.deepEqual(statusesIn(await send(request('CONNECT 127.0.0.1:1'), second)), [405]);
	const upgrade = 'GET /mcp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
	const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';
	const text = await send(upgrade + key, second);
	t.deepEqual(statusesIn(text), [405]);
	t.regex(text, /^connection: close/im, 'does not wait for data after the upgrade');
});

test('rejects an endless body at the limit and keeps serving [I10]', async t => {
	const chunk = Buffer.alloc(2 ** 20, ' ');
	const head = request('POST /mcp', [...common, `Content-Length: ${2 ** 40}`]);
	t.is(statusesIn(await send(head, chunk))[0], 413);
	t.is(statusOf(await send(request('POST /mcp', common, '{"jsonrpc":"2.0","id":1,"method":"ping"}'))), 200);
});

test('error responses contain no stack and no path [I10]', async t => {
	const responses = await Promise.all([
		send(request('POST /mcp', common, '{"jsonrpc"')),
		send(request('POST /mcp', common, '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}')),
		send(request('POST /nowhere', common, rule())),
		send(request('POST /mcp', [...common, 'Origin: http://evil.example'], rule())),
		send('nonsense\r\n\r\n'),
	]);
	for (const text of responses) {
		t.regex(text, /^HTTP\/1\.1 /);
		t.notRegex(text, /node:|\.js:\d|\/dist\/|\bat \w+ \(/);
	}
});
