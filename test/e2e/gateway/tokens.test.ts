import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {networkInterfaces} from 'node:os';
import test, {type ExecutionContext} from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {type GatewayConfig, program, startGateway} from '../../helpers/gateway.js';
import {configFile, request, statusOf} from '../../helpers/raw-requests.js';

type ReceivedHeaders = {readonly [name: string]: string | readonly string[] | undefined};

/** An HTTP upstream that replies to every request and records their headers. */
async function startEcho(t: ExecutionContext): Promise<{config: GatewayConfig; seen: ReceivedHeaders[]}> {
	const seen: ReceivedHeaders[] = [];
	const server = createServer((req, res) => {
		seen.push(req.headers);
		let text = '';
		req.on('data', chunk => {
			text += chunk;
		});
		req.on('end', () => {
			const {id, params} = text === '' ? {id: undefined, params: {}} : JSON.parse(text);
			if (id === undefined) return res.writeHead(req.method === 'POST' ? 202 : 405).end();
			const serverInfo = {name: 'echo', version: '1'};
			const result = {protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo};
			const headers = {'content-type': 'application/json', 'x-powered-by': 'echo', 'proxy-authenticate': 'x'};
			return res.writeHead(200, headers).end(JSON.stringify({jsonrpc: '2.0', id, result}));
		});
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const {port} = server.address() as AddressInfo;
	return {config: {url: `http://127.0.0.1:${port}/mcp`, transport: 'http'}, seen};
}

const tokens = ['right-token-of-sixteen', 'other-token-of-sixteen'];

test('serves only /healthz without a token, and forwards nothing [B17]', async t => {
	const {config, seen} = await startEcho(t);
	const gateway = await startGateway(t, {tokens, servers: {echo: config}});
	for (const [path, method] of [
		...(['/status', '/metrics', '/readyz', '/traffic', '/mcp', '/nothing'] as const).map(path => [
			path,
			'GET',
		]),
		['/mcp/echo', 'POST'],
		['/mcp/echo', 'GET'],
		['/mcp/nothing', 'POST'],
		['/mcp/echo/sse', 'GET'],
	] as const)
		t.is((await gateway.fetch(path ?? '', {method: method ?? ''})).status, 401, `${method} ${path}`);
	t.is((await gateway.fetch('/healthz')).status, 200);
	t.deepEqual(seen, []);
});

for (const headers of [
	{'x-bridge-token': 'wrong-token'},
	{'x-bridge-token': ''},
	{'x-bridge-token': 'right-toke'},
	{'x-bridge-token': 'right-token-of-sixteenx'},
	{'x-bridge-token': 'right-token-of-sixteen, other-token-of-sixteen'},
	{authorization: 'Bearer right-token-of-sixteen'},
	{'x-bridge_token': 'right-token-of-sixteen'},
] as const)
	test(`rejects ${JSON.stringify(headers)} as a token [B17]`, async t => {
		const {config, seen} = await startEcho(t);
		const gateway = await startGateway(t, {tokens, servers: {echo: config}});
		const reply = await gateway.post('echo', {id: 1, method: 'initialize'}, headers);
		t.is(reply.status, 401);
		t.false(reply.text.includes('right-token-of-sixteen'));
		t.truthy(reply.headers.get('www-authenticate'));
		t.deepEqual(seen, []);
	});

test('accepts each token and forwards none of them to the upstream [B17]', async t => {
	const {config, seen} = await startEcho(t);
	const gateway = await startGateway(t, {tokens, servers: {echo: config}});
	for (const token of tokens)
		await gateway.open('echo', {'x-bridge-token': token, authorization: 'Bearer own'});
	t.true(seen.length >= 2);
	t.true(seen.every(({authorization}) => authorization === 'Bearer own'));
	t.false(JSON.stringify(seen).includes('-token'));
});

test('accepts a token in Authorization if passAuthorization is false, and does not forward it [B17]', async t => {
	const {config, seen} = await startEcho(t);
	const gateway = await startGateway(t, {tokens, servers: {echo: {...config, passAuthorization: false}}});
	await gateway.open('echo', {authorization: 'Bearer other-token-of-sixteen'});
	t.true(seen.length >= 1);
	t.true(seen.every(({authorization}) => authorization === undefined));
	t.is((await gateway.post('echo', {id: 1, method: 'ping'}, {authorization: 'Bearer x'})).status, 401);
});

test("forwards only Authorization of the client's headers, whatever Connection lists [B14]", async t => {
	const {config, seen} = await startEcho(t);
	const gateway = await startGateway(t, {servers: {echo: config}});
	const body = JSON.stringify({
		jsonrpc: '2.0',
		id: 1,
		method: 'initialize',
		params: {protocolVersion: '2025-06-18'},
	});
	const abuse = [
		'Connection: authorization, x-secret, close',
		'Authorization: Bearer own',
		'X-Secret: a',
		'TE: trailers',
		'Proxy-Authorization: Basic a',
		'Proxy-Connection: keep-alive',
		'Keep-Alive: timeout=5',
		'Cookie: a=b',
		'X-Forwarded-For: 1.2.3.4',
		'X-Forwarded-Host: evil.example',
		'Forwarded: for=1.2.3.4',
		'X-Real-IP: 1.2.3.4',
		'Content-Type: application/json',
		'Accept: application/json',
		'Accept-Encoding: gzip',
		'Via: 1.1 a',
	];
	const text = await gateway.raw(request('POST /mcp/echo', abuse, body));
	t.is(statusOf(text), 200, text);
	t.notRegex(text, /^(?:proxy-authenticate|x-powered-by):/im);
	const [{authorization, ...others} = {}] = seen;
	t.is(authorization, 'Bearer own');
	const foreign = /^(?:x-|proxy|te$|cookie|forwarded|via|keep-alive|mcp-session)/;
	t.deepEqual(
		Object.keys(others).filter(name => foreign.test(name)),
		[],
	);
	t.is(others.connection, 'keep-alive');
	t.is(others['accept-encoding'], 'identity');
});

for (const listen of ['0.0.0.0:0', '[::]:0', '192.0.2.1:0', 'example.com:0'])
	test(`does not listen on the public address ${listen} without tokens [B1]`, async t => {
		const config = JSON.stringify({listen, servers: {puppet: program('puppet')}});
		const {code, stdout, stderr} = await runBridge(['gateway', '--config', await configFile(t, config)]);
		t.is(code, 2);
		t.deepEqual(stdout, []);
		t.regex(stderr, /can be reached from other machines, and there are no tokens/);
		t.notRegex(stderr, / at .*:\d+:\d+/);
	});

test('is not reachable at other addresses of this machine when it listens on 127.0.0.1 [B1]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	const others = Object.values(networkInterfaces())
		.flatMap(list => list ?? [])
		.filter(({internal, family}) => !internal && family === 'IPv4')
		.map(({address}) => `http://${address}:${gateway.port}/healthz`);
	for (const url of [
		...others,
		`http://[::1]:${gateway.port}/healthz`,
		`http://127.0.0.2:${gateway.port}/healthz`,
	])
		await t.throwsAsync(fetch(url), undefined, url);
});

test('accepts any host name if tokens are configured [B1]', async t => {
	const gateway = await startGateway(t, {listen: '0.0.0.0:0', tokens, servers: {puppet: program('puppet')}});
	const send = (...headers: string[]): Promise<string> =>
		gateway.raw(request('GET /status', headers, '', 'Host: bridge.example'));
	t.is(statusOf(await send()), 401);
	t.is(statusOf(await send('X-Bridge-Token: right-token-of-sixteen')), 200);
	t.is(statusOf(await send('X-Bridge-Token: right-token-of-sixteen', 'Origin: http://evil.example')), 403);
});
