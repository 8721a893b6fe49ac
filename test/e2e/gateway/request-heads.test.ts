import test from 'ava';
import {program, shareGateway} from '../../helpers/gateway.js';
import {
	bodyIn,
	common,
	initialize,
	post,
	request,
	sessionsOf,
	statusesIn,
	statusOf,
} from '../../helpers/raw-requests.js';

const shared = shareGateway({servers: {puppet: program('puppet'), untouched: program('puppet')}});

const manyHeaders = (count: number): string[] => Array.from({length: count}, (_, at) => `X-${at}: a`);
const second = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

test('rejects a head of more than 16 KiB [B7]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', [`X-Long: ${'a'.repeat(17_000)}`]))), 431);
});

test('rejects more than 100 headers [B7]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', manyHeaders(98)))), 200);
	t.is(statusOf(await shared().raw(request('GET /healthz', manyHeaders(99)))), 431);
});

test('does not ignore headers after the hundredth one [B7]', async t => {
	const hidden = ['Origin: http://evil.example', 'Host: evil.example'];
	t.not(statusOf(await shared().raw(request('GET /healthz', [...manyHeaders(120), ...hidden]))), 200);
});

for (const [title, header] of [
	['a NUL', 'X-A: a\0b'],
	['a bare carriage return', 'X-A: a\rX-B: b'],
	['a folded line', 'X-A: a\r\n b'],
	['a space before the colon', 'X-A : a'],
	['no colon', 'X-A'],
	['an invalid name', 'X(A): a'],
] as const)
	test(`rejects a header with ${title} [B7]`, async t => {
		t.is(statusOf(await shared().raw(request('GET /healthz', [header]))), 400);
	});

test('does not treat mcp_session_id as Mcp-Session-Id [B7]', async t => {
	const gateway = shared();
	const session = await gateway.open('puppet');
	const id = session.headers['mcp-session-id'] ?? '';
	const body = '{"jsonrpc":"2.0","id":1,"method":"pid"}';
	const send = (name: string): Promise<string> =>
		gateway.raw(request('POST /mcp/puppet', [...common, 'User-Agent: other', `${name}: ${id}`], body));
	t.is(statusOf(await send('mcp_session_id')), 400);
	t.is(statusOf(await send('mcp-session-id')), 200);
	await gateway.fetch('/mcp/puppet', {method: 'DELETE', headers: session.headers});
});

const length = `Content-Length: ${initialize.length}`;
const chunked = 'Transfer-Encoding: chunked';
const smuggled: ReadonlyArray<readonly [string, string]> = [
	['both a length and chunks', [length, chunked].join('\r\n')],
	['chunks and a length', [chunked, length].join('\r\n')],
	['two lengths that differ', [length, 'Content-Length: 3'].join('\r\n')],
	['two lengths that are the same', [length, length].join('\r\n')],
	['a list of lengths', `Content-Length: ${initialize.length}, 3`],
	['a negative length', 'Content-Length: -1'],
	['a length in hexadecimal', 'Content-Length: 0x10'],
	['an unknown encoding', 'Transfer-Encoding: xchunked'],
	['an encoding after chunked', 'Transfer-Encoding: chunked, identity'],
	['chunks twice', 'Transfer-Encoding: chunked, chunked'],
	['chunks and a space before the colon', 'Transfer-Encoding : chunked'],
];

for (const [title, headers] of smuggled)
	test(`rejects a body with ${title} and reads no second request out of it [B8]`, async t => {
		const head = `POST /mcp/untouched HTTP/1.1\r\nHost: localhost\r\n${common.join('\r\n')}\r\n${headers}\r\n\r\n`;
		t.deepEqual(statusesIn(await shared().raw(`${head}0\r\n\r\n${second}`)), [400]);
		t.is(await sessionsOf(shared(), 'untouched'), 0);
	});

test('rejects lines that end without a carriage return [B8]', async t => {
	t.deepEqual(statusesIn(await shared().raw(second.replaceAll('\r\n', '\n'), second)), [400]);
});

test('rejects chunks whose size does not match their data [B8]', async t => {
	const head = request('POST /mcp/puppet', [...common, chunked]);
	for (const body of [
		'zz\r\n{}\r\n0\r\n\r\n',
		'1\r\n{}\r\n0\r\n\r\n',
		'-1\r\n{}\r\n',
		'fffffffffffffffff\r\n',
	])
		t.deepEqual(statusesIn(await shared().raw(head, body, second)), [400]);
});

test('rejects a flood of chunk extensions [B8]', async t => {
	const head = request('POST /mcp/puppet', [...common, chunked]);
	const [status] = statusesIn(await shared().raw(head, `1;${'a'.repeat(100_000)}\r\n{\r\n0\r\n\r\n`));
	t.true(status === 413 || status === 400);
});

for (const method of ['PUT', 'PATCH', 'TRACE', 'OPTIONS', 'HEAD'])
	test(`rejects ${method} and returns the allowed methods [B13]`, async t => {
		const text = await shared().raw(request(`${method} /mcp/puppet`));
		t.is(statusOf(text), 405);
		t.regex(text, /^allow: GET, POST, DELETE\r$/im);
	});

test('CONNECT opens no tunnel [B13]', async t => {
	const text = await shared().raw(request(`CONNECT 127.0.0.1:${shared().port}`), second);
	t.deepEqual(statusesIn(text), [405]);
	t.regex(text, /^allow: /im);
});

test('ignores an upgrade to an unsupported protocol [B13]', async t => {
	for (const protocol of ['h2c', 'TLS/1.0', 'foo']) {
		const head = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nUpgrade: ${protocol}\r\nConnection: Upgrade\r\n\r\n`;
		const statuses = statusesIn(await shared().raw(head, second));
		t.false(statuses.includes(101));
		t.true(statuses.length > 0);
	}
});

test('rejects an upgrade for an unknown service or from a foreign origin [B13]', async t => {
	const socket = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'];
	const sendUpgrade = (service: string, ...headers: string[]): Promise<string> =>
		shared().raw(
			`GET /mcp/${service} HTTP/1.1\r\nHost: localhost\r\n${[...socket, ...headers].join('\r\n')}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
			second,
		);
	for (const text of [
		await sendUpgrade('nothing'),
		await sendUpgrade('puppet', 'Origin: http://evil.example'),
	]) {
		t.false(statusesIn(text).includes(101));
		t.true((statusesIn(text)[0] ?? 0) >= 400);
	}
});

test('sends 100 Continue to a client that expects it [B13]', async t => {
	const text = await shared().raw(post(['Expect: 100-continue']));
	t.deepEqual(statusesIn(text), [100, 200]);
	const id = /^mcp-session-id: (\S+)/im.exec(text)?.[1] ?? '';
	await shared().fetch('/mcp/puppet', {method: 'DELETE', headers: {'mcp-session-id': id}});
});

test('does not send 100 Continue for a rejected head [B13]', async t => {
	for (const header of [
		'Content-Encoding: gzip',
		'Origin: http://evil.example',
		'Content-Type: text/plain',
	]) {
		const text = await shared().raw(
			`POST /mcp/puppet HTTP/1.1\r\nHost: localhost\r\n${common.join('\r\n')}\r\n${header}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
		);
		t.true(statusOf(text) >= 400, text);
	}
});

test('rejects other expectations [B13]', async t => {
	t.is(statusOf(await shared().raw(post(['Expect: miracles']))), 417);
});

test('replies to pipelined requests in order [B15]', async t => {
	const keep = 'GET /mcp/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
	t.deepEqual(
		statusesIn(await shared().raw(keep, keep.replace('/mcp/nothing', '/healthz'), keep, second)),
		[404, 200, 404, 200],
	);
});

test('allows no page of another origin to read a reply [B2]', async t => {
	for (const text of [await shared().raw(second), await shared().raw(request('OPTIONS /mcp/puppet'))]) {
		t.notRegex(text, /^access-control/im);
		t.true(bodyIn(text).length > 0);
	}
});
