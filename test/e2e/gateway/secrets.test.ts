import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {type Message, opening} from '../../helpers/bridge.js';
import {
	type Answer,
	type ClientSession,
	program,
	type RunningGateway,
	startGateway,
} from '../../helpers/gateway.js';
import {newFolder} from '../../helpers/program.js';
import {post, request} from '../../helpers/raw-requests.js';

/** One secret of each kind. None of them may appear in any output. */
const canary = {
	token: 'canary-token-1f3a',
	authorization: 'canary-authorization-2b7c',
	header: 'canary-header-3d9e',
	env: 'canary-env-4a1b',
	user: 'canary-user-5c2d',
	query: 'canary-query-6e3f',
	cookie: 'canary-cookie-7a4b',
	wrong: 'canary-wrong-8c5d',
	argument: 'canary-argument-9e6f',
};

const url = `http://${canary.user}:${canary.user}@127.0.0.1:1/mcp?key=${canary.query}`;
const headers = {
	'x-bridge-token': canary.token,
	authorization: `Bearer ${canary.authorization}`,
	cookie: `a=${canary.cookie}`,
};
const servers = {
	puppet: {...program('puppet'), env: {SECRET: canary.env}},
	remote: {url, headers: {'X-Api-Key': canary.header}},
	socket: {url: url.replace('http:', 'ws:'), headers: {'X-Api-Key': canary.header}},
	old: {url, transport: 'sse', headers: {'X-Api-Key': canary.header}},
	missing: {command: '/no/such/command', args: [`--key=${canary.argument}`], env: {SECRET: canary.env}},
};

/** Sends valid and invalid requests of every kind. Resolves with everything that the client received. */
async function doAll(gateway: RunningGateway, session: ClientSession): Promise<string[]> {
	const secrets = {
		password: canary.argument,
		nested: {api_key: canary.argument, Authorization: canary.argument},
	};
	await session.request(1, 'echo', secrets);
	const send = (body: string): Promise<Answer> =>
		gateway.fetch(`/mcp/puppet/message?sessionId=${canary.wrong}&token=${canary.token}`, {
			method: 'POST',
			headers: {...headers, 'content-type': 'application/json'},
			body,
		});
	const replies = [
		await session.post({id: 2, method: 'nothing'}),
		await session.post({id: null, method: 'ping', params: secrets}),
		await session.post({id: 3, method: 'exit', params: {code: 3}}),
		await gateway.post('puppet', {id: 4, method: 'ping'}, {'x-bridge-token': canary.wrong}),
		await gateway.post('puppet', {id: 5, method: 'ping'}, {...headers, 'mcp-session-id': canary.wrong}),
		await send('{}'),
	];
	for (const service of ['remote', 'socket', 'old', 'missing'])
		replies.push(await gateway.post(service, {id: 1, method: 'initialize', params: opening}, headers));
	for (const path of ['/status', '/metrics', '/readyz', '/', '/mcp/nothing', `/?token=${canary.token}`])
		replies.push(await gateway.fetch(path, {headers}));
	return [
		...replies.map(({text, headers: replyHeaders}) => `${text}\n${JSON.stringify([...replyHeaders])}`),
		await gateway.raw(post([`X-Bridge-Token: ${canary.token}`, 'Origin: http://evil.example'])),
		await gateway.raw(request('GET /nothing', [`Authorization: Bearer ${canary.authorization}`])),
	];
}

test('redacts secrets in all logs, pages and errors of a session [K4]', async t => {
	const log = join(await newFolder(t), 'traffic.ndjson');
	const args = ['--log', log, '--log-level', 'trace', '--debug'];
	const gateway = await startGateway(t, {tokens: [canary.token], servers}, {args});
	const session = await gateway.open('puppet', headers);
	const received = await doAll(gateway, session);
	t.is(await gateway.stop(), 0);
	const {stderr, lines} = gateway.running;
	const traffic = await readFile(log, 'utf8');
	t.true(traffic.includes('"method":"echo"'));
	t.regex(stderr, /echo/, 'the trace contains the traffic');
	const id = session.headers['mcp-session-id'] ?? 'no id';
	for (const [where, text] of [
		['stdout', lines.join('\n')],
		['stderr', stderr],
		['the traffic log', traffic],
		...received.map((text, at): [string, string] => [`reply ${at}`, text]),
	] as const)
		for (const [name, secret] of [...Object.entries(canary), ['session id', id]])
			t.false(text.includes(secret ?? ''), `the ${name} is in ${where}: ${around(text, secret ?? '')}`);
});

const around = (text: string, secret: string): string => {
	const at = text.indexOf(secret);
	return at === -1 ? '' : text.slice(Math.max(0, at - 200), at + 50);
};

test('errors do not reveal stacks, local paths or the addresses of upstreams [B16]', async t => {
	const hidden = {
		puppet: program('puppet'),
		remote: {url: 'http://127.0.0.1:1/hidden-path', transport: 'http'},
		named: {url: 'http://hidden-host.invalid/mcp', transport: 'http', insecure: true},
		socket: {url: 'ws://127.0.0.1:1/hidden-path'},
		old: {url: 'http://127.0.0.1:1/hidden-path', transport: 'sse'},
		off: {...program('puppet'), enabled: false},
	};
	const gateway = await startGateway(t, {limits: {message: '1KiB'}, servers: hidden});
	const connect = (service: string, params: Message = opening) =>
		gateway.post(service, {id: 1, method: 'initialize', params});
	const session = await gateway.open('puppet');
	const replies = [
		...(await Promise.all(
			['remote', 'named', 'socket', 'old', 'off', 'nothing'].map(service => connect(service)),
		)),
		await connect('puppet', {text: 'x'.repeat(2000)}),
		await session.post({id: 1, method: 'exit', params: {code: 1}}),
		await session.post({id: null, method: 'ping'}),
		await session.post({params: 'nothing'}),
		await gateway.fetch('/mcp/puppet', {method: 'PUT'}),
		await gateway.fetch('/mcp/puppet', {
			method: 'POST',
			headers: {'content-type': 'application/json'},
			body: '{"jsonrpc":',
		}),
		await gateway.post('puppet', {id: 1, method: 'ping'}, {'mcp-session-id': '/etc/passwd'}),
		await gateway.post('puppet', {id: 1, method: 'ping'}, {'mcp-protocol-version': '1999-01-01'}),
	];
	for (const {status, text} of replies) {
		t.true(status >= 400, `${status} ${text}`);
		t.notRegex(
			text,
			/\n +at |node:|\.[jt]s:\d|\/(?:tmp|home|root|usr|work|etc)\/|hidden|127\.0\.0\.1|node_modules/,
		);
		t.notThrows(() => JSON.parse(text));
	}
});

test('escapes all client input in the log, so that it cannot forge entries or control a terminal [K5]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}}, {args: ['--debug']});
	const hostile = '\n{"level":50,"event":"forged"}\r\n\u001b[31mred\u0007"\u2028';
	const session = await gateway.open('puppet');
	await session.post({id: hostile, method: `x${hostile}`, params: {name: hostile}});
	await session.post({method: `notifications/${hostile}`});
	const params = {protocolVersion: hostile, capabilities: {}, clientInfo: {name: hostile, version: hostile}};
	await gateway.post('puppet', {id: 1, method: 'initialize', params}, {'user-agent': 'a"b\\'});
	await gateway.raw(post(['Origin: http://evil"\\x1b[31m']));
	t.is(await gateway.stop(), 0);
	const {stderr} = gateway.running;
	t.false(stderr.includes('\u001b'));
	t.false(stderr.includes('\u0007'));
	const lines = stderr.split('\n').filter(line => line.startsWith('{'));
	for (const line of lines) t.notThrows(() => JSON.parse(line), line);
	t.false(lines.some(line => JSON.parse(line).event === 'forged'));
});

test('client input never becomes a label of the metrics [K7]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	for (let count = 0; count < 50; count++) {
		await gateway.fetch(`/mcp/canary-${count}`);
		await gateway.fetch(`/canary-${count}?canary=${count}`, {method: 'POST'});
		await gateway.post('puppet', {id: 1, method: `canary-${count}`}, {'user-agent': `canary-${count}`});
	}
	await gateway.raw(request('PROPFIND /mcp/puppet'), request('MKCOL /canary'));
	const {text} = await gateway.fetch('/metrics');
	t.notRegex(text, /canary|PROPFIND|MKCOL/i);
	t.true(text.split('\n').filter(line => line.startsWith('bridge_http_requests_total')).length < 10);
});
