import test from 'ava';
import {parse} from 'smol-toml';
import {opening, runBridge} from '../../helpers/bridge.js';
import {program, shareGateway, startGateway} from '../../helpers/gateway.js';
import {stdinMessages} from '../../helpers/ndjson.js';
import {configFile} from '../../helpers/raw-requests.js';

const servers = {
	puppet: program('puppet'),
	speaker: {...program('speaker', '2024-11-05'), cacheTools: true},
	missing: {command: '/no/such/command'},
	off: {...program('puppet'), enabled: false},
};
const shared = shareGateway({servers});

test('/healthz and /readyz return 200 and JSON [L8]', async t => {
	for (const path of ['/healthz', '/readyz']) {
		const {status, text} = await shared().fetch(path);
		t.is(status, 200);
		t.notThrows(() => JSON.parse(text));
	}
});

test('/status returns the state, version and losses of each service', async t => {
	const gateway = await startGateway(t, {servers});
	const speaker = await gateway.open('speaker');
	await speaker.request(1, 'tools/list');
	await gateway.post('missing', {id: 1, method: 'initialize', params: opening});
	const {services, sessions} = JSON.parse((await gateway.fetch('/status')).text);
	t.deepEqual(Object.keys(services), ['puppet', 'speaker', 'missing', 'off']);
	t.like(services.puppet, {
		state: 'idle',
		transport: 'stdio',
		version: null,
		tools: null,
		sessions: 0,
		restarts: 0,
	});
	t.like(services.speaker, {state: 'ready', version: '2024-11-05', deprecated: true, tools: 2, sessions: 1});
	t.is(services.speaker.lastError, null);
	t.regex(JSON.stringify(services.speaker.outlook), /2024-11-05/);
	t.is(typeof services.speaker.lost, 'object');
	t.is(services.missing.state, 'failed');
	t.regex(services.missing.lastError, /no such command/);
	t.is(services.off.state, 'disabled');
	t.true(sessions >= 1);
});

test('/status shows a service as ready immediately after the handshake', async t => {
	const gateway = await startGateway(t, {servers});
	await gateway.open('puppet');
	const {services} = JSON.parse((await gateway.fetch('/status')).text);
	t.like(services.puppet, {state: 'ready', version: '2025-11-25'});
});

const modern = `${stdinMessages}.on('data', ({id, method}) => {
	const caching = {resultType: 'complete', ttlMs: 0, cacheScope: 'private'};
	const discovery = {...caching, supportedVersions: ['2026-07-28'], capabilities: {tools: {}}};
	const body = method === 'server/discover' ? {result: discovery} : {error: {code: -32601, message: 'Method not found'}};
	if (id !== undefined) console.log(JSON.stringify({jsonrpc: '2.0', id, ...body}));
});`;

for (const shared of [false, true])
	test(`/status shows that a service has no handshake, ${shared ? 'shared' : 'with one child per client'}`, async t => {
		const server = {command: process.execPath, args: ['-e', modern], shared};
		const gateway = await startGateway(t, {servers: {modern: server}});
		await gateway.open('modern');
		const {services} = JSON.parse((await gateway.fetch('/status')).text);
		t.like(services.modern, {state: 'ready', version: '2026-07-28', deprecated: false, outlook: null});
	});

test('replies to HEAD without a body [L8]', async t => {
	for (const path of ['/healthz', '/readyz', '/status', '/metrics']) {
		const {status, text} = await shared().fetch(path, {method: 'HEAD'});
		t.is(status, 200, path);
		t.is(text, '');
	}
});

test('/metrics is in the Prometheus format: each series has a type, and each line has a name, labels and a number', async t => {
	const session = await shared().open('puppet');
	await session.request(1, 'echo', {});
	const {status, headers, text} = await shared().fetch('/metrics');
	t.is(status, 200);
	t.regex(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
	const types = new Set(
		[...text.matchAll(/^# TYPE (\S+) (?:counter|gauge|histogram|summary)$/gm)].map(([, name]) => name),
	);
	for (const line of text.split('\n').filter(line => line !== '' && !line.startsWith('#'))) {
		const [, name = ''] =
			/^([a-z_][a-z\d_]*)(?:\{(?:[a-z_]+="[^"\n]*",?)*\})? (?:[\d.e+-]+|NaN|[+-]?Inf)$/i.exec(line) ?? [];
		t.true(types.has(name) || types.has(name.replace(/_(?:bucket|sum|count)$/, '')), line);
	}
	t.regex(text, /^bridge_http_requests_total\{service="puppet",method="POST",status="200"\} [1-9]/m);
	t.regex(text, /^bridge_http_request_duration_seconds_bucket\{le="[^"]+",service="puppet"\} \d/m);
	t.regex(text, /^bridge_sessions [1-9]/m);
	t.regex(text, /^bridge_children [1-9]/m);
});

test('rejects POST to pages', async t => {
	for (const path of ['/status', '/metrics', '/healthz', '/readyz']) {
		const {status, headers} = await shared().fetch(path, {method: 'POST'});
		t.is(status, 405);
		t.is(headers.get('allow'), 'GET, HEAD');
	}
});

const printed = async (client: string, file: string): Promise<string> => {
	const {code, stdout, stderr} = await runBridge(['gateway', '--config', file, '--print-client', client]);
	return code === 0 ? `${stderr}${stdout.join('\n')}` : `${code} ${stderr}`;
};

/** A snippet without its comments and commands. */
const withoutNotes = (text: string): string => text.replace(/^#.*$/gm, '').replace(/^claude .*$/gm, '');

const urls = {
	puppet: 'http://127.0.0.1:7411/mcp/puppet',
	speaker: 'http://127.0.0.1:7411/mcp/speaker',
	missing: 'http://127.0.0.1:7411/mcp/missing',
};

for (const hasToken of [false, true])
	test(`--print-client ${hasToken ? 'with' : 'without'} tokens prints valid configurations with each service and no secret`, async t => {
		const tokens = hasToken ? {tokens: ['canary-token-of-sixteen']} : {};
		const file = await configFile(t, JSON.stringify({...tokens, servers}));
		const texts = new Map<string, string>();
		for (const client of ['codex', 'claude', 'cursor', 'vscode'])
			texts.set(client, await printed(client, file));
		const codex = parse(texts.get('codex') ?? '') as {mcp_servers: {[name: string]: {url: string}}};
		const entries: {[client: string]: {[name: string]: {url: string; headers?: object}}} = {
			codex: codex.mcp_servers,
			claude: JSON.parse(withoutNotes(texts.get('claude') ?? '')).mcpServers,
			cursor: JSON.parse(withoutNotes(texts.get('cursor') ?? '')).mcpServers,
			vscode: JSON.parse(withoutNotes(texts.get('vscode') ?? '')).servers,
		};
		for (const [client, found] of Object.entries(entries)) {
			const named = Object.fromEntries(Object.entries(found).map(([name, {url}]) => [name, url]));
			t.deepEqual(named, urls, client);
			t.is(/X-Bridge-Token/.test(texts.get(client) ?? ''), hasToken, client);
			t.false(texts.get(client)?.includes('canary'), client);
		}
	});

test('--print-client names the known clients for an unknown one', async t => {
	const file = await configFile(t, JSON.stringify({servers}));
	t.regex(await printed('emacs', file), /^2 .*codex/s);
});
