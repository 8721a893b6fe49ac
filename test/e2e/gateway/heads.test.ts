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

const many = (count: number): string[] => Array.from({length: count}, (_, at) => `X-${at}: a`);
const second = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

test('a head of more than 16 KiB is refused [B7]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', [`X-Long: ${'a'.repeat(17_000)}`]))), 431);
});

test('more than 100 headers are refused [B7]', async t => {
	t.is(statusOf(await shared().raw(request('GET /healthz', many(98)))), 200);
	t.is(statusOf(await shared().raw(request('GET /healthz', many(99)))), 431);
});

test('what stands behind the hundredth header is not overlooked [B7]', async t => {
	const hidden = ['Origin: http://evil.example', 'Host: evil.example'];
	t.not(statusOf(await shared().raw(request('GET /healthz', [...many(120), ...hidden]))), 200);
});

for (const [what, header] of [
	['a NUL', 'X-A: a\0b'],
	['a bare carriage return', 'X-A: a\rX-B: b'],
	['a line that goes on with the next', 'X-A: a\r\n b'],
	['a space before the colon', 'X-A : a'],
	['no colon', 'X-A'],
	['a name that is none', 'X(A): a'],
] as const)
	test(`a header with ${what} is refused [B7]`, async t => {
		t.is(statusOf(await shared().raw(request('GET /healthz', [header]))), 400);
	});

test('a header whose name has underscores is not taken for the one with dashes [B7]', async t => {
	const gateway = shared();
	const session = await gateway.open('puppet');
	const id = session.headers['mcp-session-id'] ?? '';
	const body = '{"jsonrpc":"2.0","id":1,"method":"pid"}';
	const ask = (name: string): Promise<string> =>
		gateway.raw(request('POST /mcp/puppet', [...common, 'User-Agent: other', `${name}: ${id}`], body));
	t.is(statusOf(await ask('mcp_session_id')), 400);
	t.is(statusOf(await ask('mcp-session-id')), 200);
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
	['an encoding that is none', 'Transfer-Encoding: xchunked'],
	['an encoding behind chunks', 'Transfer-Encoding: chunked, identity'],
	['chunks twice', 'Transfer-Encoding: chunked, chunked'],
	['chunks and a space before the colon', 'Transfer-Encoding : chunked'],
];

for (const [what, headers] of smuggled)
	test(`a body with ${what} is refused, and no second request is read out of it [B8]`, async t => {
		const head = `POST /mcp/untouched HTTP/1.1\r\nHost: localhost\r\n${common.join('\r\n')}\r\n${headers}\r\n\r\n`;
		t.deepEqual(statusesIn(await shared().raw(`${head}0\r\n\r\n${second}`)), [400]);
		t.is(await sessionsOf(shared(), 'untouched'), 0);
	});

test('lines that end without a carriage return are refused [B8]', async t => {
	t.deepEqual(statusesIn(await shared().raw(second.replaceAll('\r\n', '\n'), second)), [400]);
});

test('chunks that say more than they hold are refused [B8]', async t => {
	const head = request('POST /mcp/puppet', [...common, chunked]);
	for (const body of [
		'zz\r\n{}\r\n0\r\n\r\n',
		'1\r\n{}\r\n0\r\n\r\n',
		'-1\r\n{}\r\n',
		'fffffffffffffffff\r\n',
	])
		t.deepEqual(statusesIn(await shared().raw(head, body, second)), [400]);
});

test('a flood of chunk extensions is refused [B8]', async t => {
	const head = request('POST /mcp/puppet', [...common, chunked]);
	const [status] = statusesIn(await shared().raw(head, `1;${'a'.repeat(100_000)}\r\n{\r\n0\r\n\r\n`));
	t.true(status === 413 || status === 400);
});

for (const method of ['PUT', 'PATCH', 'TRACE', 'OPTIONS', 'HEAD'])
	test(`${method} is refused, and what is allowed is told [B13]`, async t => {
		const text = await shared().raw(request(`${method} /mcp/puppet`));
		t.is(statusOf(text), 405);
		t.regex(text, /^allow: GET, POST, DELETE\r$/im);
	});

test('CONNECT opens no tunnel [B13]', async t => {
	const text = await shared().raw(request(`CONNECT 127.0.0.1:${shared().port}`), second);
	t.deepEqual(statusesIn(text), [405]);
	t.regex(text, /^allow: /im);
});

test('an upgrade to anything that is not spoken here changes nothing [B13]', async t => {
	for (const protocol of ['h2c', 'TLS/1.0', 'foo']) {
		const head = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nUpgrade: ${protocol}\r\nConnection: Upgrade\r\n\r\n`;
		const statuses = statusesIn(await shared().raw(head, second));
		t.false(statuses.includes(101));
		t.true(statuses.length > 0);
	}
});

test('an upgrade for a service that there is not, or from a foreign origin, is refused [B13]', async t => {
	const socket = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'];
	const ask = (service: string, ...headers: string[]): Promise<string> =>
		shared().raw(
			`GET /mcp/${service} HTTP/1.1\r\nHost: localhost\r\n${[...socket, ...headers].join('\r\n')}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
			second,
		);
	for (const text of [await ask('nothing'), await ask('puppet', 'Origin: http://evil.example')]) {
		t.false(statusesIn(text).includes(101));
		t.true((statusesIn(text)[0] ?? 0) >= 400);
	}
});

test('a client that waits to be asked for its body is asked [B13]', async t => {
	const text = await shared().raw(post(['Expect: 100-continue']));
	t.deepEqual(statusesIn(text), [100, 200]);
	const id = /^mcp-session-id: (\S+)/im.exec(text)?.[1] ?? '';
	await shared().fetch('/mcp/puppet', {method: 'DELETE', headers: {'mcp-session-id': id}});
});

test('a client whose head is refused is not asked for its body [B13]', async t => {
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

test('another expectation is refused [B13]', async t => {
	t.is(statusOf(await shared().raw(post(['Expect: miracles']))), 417);
});

test('requests that follow each other without waiting are answered in their order [B15]', async t => {
	const keep = 'GET /mcp/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
	t.deepEqual(
		statusesIn(await shared().raw(keep, keep.replace('/mcp/nothing', '/healthz'), keep, second)),
		[404, 200, 404, 200],
	);
});

test('no answer lets a page of another origin read it [B2]', async t => {
	for (const text of [await shared().raw(second), await shared().raw(request('OPTIONS /mcp/puppet'))]) {
		t.notRegex(text, /^access-control/im);
		t.true(bodyIn(text).length > 0);
	}
});
