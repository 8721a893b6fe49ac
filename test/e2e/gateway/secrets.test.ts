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

/** Each is a secret of another kind, and none may ever be seen. */
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

/** Does all that a client can do, right and wrong. Resolves to all that it was told. */
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
	const answers = [
		await session.post({id: 2, method: 'nothing'}),
		await session.post({id: null, method: 'ping', params: secrets}),
		await session.post({id: 3, method: 'exit', params: {code: 3}}),
		await gateway.post('puppet', {id: 4, method: 'ping'}, {'x-bridge-token': canary.wrong}),
		await gateway.post('puppet', {id: 5, method: 'ping'}, {...headers, 'mcp-session-id': canary.wrong}),
		await send('{}'),
	];
	for (const service of ['remote', 'socket', 'old', 'missing'])
		answers.push(await gateway.post(service, {id: 1, method: 'initialize', params: opening}, headers));
	for (const path of ['/status', '/metrics', '/readyz', '/', '/mcp/nothing', `/?token=${canary.token}`])
		answers.push(await gateway.fetch(path, {headers}));
	return [
		...answers.map(({text, headers: told}) => `${text}\n${JSON.stringify([...told])}`),
		await gateway.raw(post([`X-Bridge-Token: ${canary.token}`, 'Origin: http://evil.example'])),
		await gateway.raw(request('GET /nothing', [`Authorization: Bearer ${canary.authorization}`])),
	];
}

test('no secret is in any log, page or error of a whole session [K4]', async t => {
	const log = join(await newFolder(t), 'traffic.ndjson');
	const args = ['--log', log, '--log-level', 'trace', '--debug'];
	const gateway = await startGateway(t, {tokens: [canary.token], servers}, {args});
	const session = await gateway.open('puppet', headers);
	const seen = await doAll(gateway, session);
	t.is(await gateway.stop(), 0);
	const {stderr, lines} = gateway.running;
	const traffic = await readFile(log, 'utf8');
	t.true(traffic.includes('"method":"echo"'));
	t.regex(stderr, /echo/, 'the traffic is shown');
	const id = session.headers['mcp-session-id'] ?? 'no id';
	for (const [where, text] of [
		['stdout', lines.join('\n')],
		['stderr', stderr],
		['the traffic log', traffic],
		...seen.map((text, at): [string, string] => [`answer ${at}`, text]),
	] as const)
		for (const [name, secret] of [...Object.entries(canary), ['session id', id]])
			t.false(text.includes(secret ?? ''), `the ${name} is in ${where}: ${around(text, secret ?? '')}`);
});

const around = (text: string, secret: string): string => {
	const at = text.indexOf(secret);
	return at === -1 ? '' : text.slice(Math.max(0, at - 200), at + 50);
};

test('no error tells a stack, a path of this machine, or where a server is [B16]', async t => {
	const hidden = {
		puppet: program('puppet'),
		remote: {url: 'http://127.0.0.1:1/hidden-path', transport: 'http'},
		named: {url: 'http://hidden-host.invalid/mcp', transport: 'http', insecure: true},
		socket: {url: 'ws://127.0.0.1:1/hidden-path'},
		old: {url: 'http://127.0.0.1:1/hidden-path', transport: 'sse'},
		off: {...program('puppet'), enabled: false},
	};
	const gateway = await startGateway(t, {limits: {message: '1KiB'}, servers: hidden});
	const ask = (service: string, params: Message = opening) =>
		gateway.post(service, {id: 1, method: 'initialize', params});
	const session = await gateway.open('puppet');
	const answers = [
		...(await Promise.all(
			['remote', 'named', 'socket', 'old', 'off', 'nothing'].map(service => ask(service)),
		)),
		await ask('puppet', {text: 'x'.repeat(2000)}),
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
	for (const {status, text} of answers) {
		t.true(status >= 400, `${status} ${text}`);
		t.notRegex(
			text,
			/\n +at |node:|\.[jt]s:\d|\/(?:tmp|home|root|usr|work|etc)\/|hidden|127\.0\.0\.1|node_modules/,
		);
		t.notThrows(() => JSON.parse(text));
	}
});

test('nothing that a client says can forge a line of the log, or speak to a terminal [K5]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}}, {args: ['--debug']});
	const nasty = '\n{"level":50,"event":"forged"}\r\n\u001b[31mred\u0007"\u2028';
	const session = await gateway.open('puppet');
	await session.post({id: nasty, method: `x${nasty}`, params: {name: nasty}});
	await session.post({method: `notifications/${nasty}`});
	const params = {protocolVersion: nasty, capabilities: {}, clientInfo: {name: nasty, version: nasty}};
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

test('nothing that a client sends becomes a label of the metrics [K7]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
	for (let count = 0; count < 50; count++) {
		await gateway.fetch(`/mcp/strange-${count}`);
		await gateway.fetch(`/strange-${count}?strange=${count}`, {method: 'POST'});
		await gateway.post('puppet', {id: 1, method: `strange-${count}`}, {'user-agent': `strange-${count}`});
	}
	await gateway.raw(request('PROPFIND /mcp/puppet'), request('MKCOL /strange'));
	const {text} = await gateway.fetch('/metrics');
	t.notRegex(text, /strange|PROPFIND|MKCOL/i);
	t.true(text.split('\n').filter(line => line.startsWith('bridge_http_requests_total')).length < 10);
});
