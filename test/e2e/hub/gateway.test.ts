import {once} from 'node:events';
import test from 'ava';
import {WebSocket} from 'ws';
import {type Message, opening} from '../../helpers/bridge.js';
import {EventSource} from '../../helpers/event-source.js';
import {messageIn, program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {startUpstream} from '../../helpers/upstream.js';
import {errorIn, logged, namesIn, shop, textIn} from './support.js';

const servers = {wix: shop('wix'), notion: shop('notion')};
const both = {expose: 'both', servers};
const VERSION = '2026-07-28';

/** Sends a request of the stateless era. */
function postStateless(gateway: RunningGateway, method: string, params: Message = {}, name?: string) {
	const _meta = {
		'io.modelcontextprotocol/protocolVersion': VERSION,
		'io.modelcontextprotocol/clientInfo': {name: 'stateless', version: '1'},
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	const headers = {
		'mcp-protocol-version': VERSION,
		'mcp-method': method,
		...(name === undefined ? {} : {'mcp-name': name}),
	};
	return gateway.post('', {id: 1, method, params: {...params, _meta}}, headers);
}

test('serves all upstreams as one at /mcp over streamable HTTP', async t => {
	const gateway = await startGateway(t, both);
	const session = await gateway.open('');
	t.is(namesIn(await session.request(1, 'tools/list'), 'tools').length, 25);
	const call = {name: 'notion__search', arguments: {query: 'x'}};
	t.is(textIn(await session.request(2, 'tools/call', call)), '{"hits":["notion: x"]}');
	const run = {name: 'run', arguments: {command: 'wix.list_sites()[1].name'}};
	t.is(textIn(await session.request(3, 'tools/call', run)), 'wix south');
	const status = JSON.parse((await gateway.fetch('/status')).text);
	t.deepEqual(status.hub, {expose: 'both', sessions: 1});
	t.like(status.services, {wix: {state: 'ready', tools: 12}, notion: {state: 'ready'}});
});

for (const version of ['2025-03-26', '2025-06-18', '2025-11-25'])
	test(`negotiates ${version} at /mcp with a client that requests it`, async t => {
		const gateway = await startGateway(t, both);
		const params = {...opening, protocolVersion: version};
		const response = messageIn(await gateway.post('', {id: 1, method: 'initialize', params}));
		t.like(response, {result: {protocolVersion: version}});
	});

test('serves a stateless client of 2026-07-28 at /mcp', async t => {
	const gateway = await startGateway(t, both);
	t.like(messageIn(await postStateless(gateway, 'server/discover')), {
		result: {supportedVersions: [VERSION]},
	});
	t.is(namesIn(messageIn(await postStateless(gateway, 'tools/list')), 'tools').length, 25);
	const params = {name: 'run', arguments: {command: 'wix.search(query="x")'}};
	t.is(textIn(messageIn(await postStateless(gateway, 'tools/call', params, 'run'))), '{"hits":["wix: x"]}');
});

test('serves all upstreams as one at /mcp/sse over HTTP+SSE', async t => {
	const gateway = await startGateway(t, both);
	const headers = {accept: 'text/event-stream'};
	const stream = new EventSource(await fetch(new URL('/mcp/sse', gateway.base), {headers}));
	await stream.more();
	const path = /data: (\S+)/.exec(stream.text)?.[1] ?? '';
	t.regex(path, /^\/mcp\/message\?sessionId=/);
	const post = (message: Message) =>
		gateway.fetch(path, {
			method: 'POST',
			headers: {'content-type': 'application/json'},
			body: JSON.stringify({jsonrpc: '2.0', ...message}),
		});
	await post({id: 1, method: 'initialize', params: {...opening, protocolVersion: '2024-11-05'}});
	await post({method: 'notifications/initialized'});
	await post({id: 2, method: 'tools/list'});
	while (!stream.text.includes('"id":2')) await stream.more();
	t.regex(stream.text, /notion__search/);
	await stream.stop();
});

test('serves a service named sse under its own name', async t => {
	const gateway = await startGateway(t, {servers: {sse: program('puppet')}});
	const session = await gateway.open('sse');
	t.like(await session.request(1, 'echo', {a: 1}), {result: {a: 1}});
});

test('serves all upstreams as one at /mcp over WebSocket', async t => {
	const gateway = await startGateway(t, both);
	const socket = new WebSocket(new URL('/mcp', gateway.base).href.replace('http', 'ws'), 'mcp');
	await once(socket, 'open');
	const messages: Message[] = [];
	socket.on('message', data => messages.push(JSON.parse(String(data)) as Message));
	const send = (message: Message): void => socket.send(JSON.stringify({jsonrpc: '2.0', ...message}));
	send({id: 1, method: 'initialize', params: opening});
	send({method: 'notifications/initialized'});
	send({id: 2, method: 'tools/call', params: {name: 'wix__search', arguments: {query: 'x'}}});
	while (!messages.some(({id}) => id === 2)) await once(socket, 'message');
	t.is(textIn(messages.find(({id}) => id === 2) ?? {}), '{"hits":["wix: x"]}');
	socket.close();
});

test('sends the configured headers to upstreams of /mcp, but not the Authorization of the client', async t => {
	const upstream = await startUpstream(t);
	const gateway = await startGateway(t, {
		expose: 'tools',
		servers: {remote: {url: upstream.url, transport: 'http', headers: {'X-Api-Key': 'configured'}}},
	});
	const session = await gateway.open('', {authorization: 'Bearer of-the-client'});
	await session.request(1, 'tools/list');
	const headers = upstream.met.map(({request}) => request.headers);
	t.true(headers.length > 0);
	t.true(headers.every(({authorization}) => authorization === undefined));
	t.deepEqual([...new Set(headers.map(all => all['x-api-key']))], ['configured']);
});

test('rejects a session id of /mcp from another principal or for another service', async t => {
	const gateway = await startGateway(t, {...both, servers: {...servers, hub: program('puppet')}});
	const session = await gateway.open('');
	const id = session.headers['mcp-session-id'] ?? '';
	const ping = {id: 1, method: 'ping'};
	t.is((await gateway.post('hub', ping, {'mcp-session-id': id})).status, 404);
	t.is((await gateway.post('', ping, {'mcp-session-id': id, authorization: 'Bearer x'})).status, 404);
	t.is((await gateway.post('', ping, {'mcp-session-id': id})).status, 200);
});

test('adds and removes upstreams in a live session when the configuration file changes', async t => {
	const gateway = await startGateway(t, both);
	const session = await gateway.open('');
	await session.request(1, 'tools/list');
	await gateway.configure({...both, servers: {notion: servers.notion, third: shop('third')}});
	await gateway.running.says(/"server":"third","type":"stdio","toolCount":12/);
	const names = namesIn(await session.request(2, 'tools/list'), 'tools');
	t.true(names.includes('third__search') && names.includes('notion__search'));
	t.false(names.includes('wix__search'));
});

test('uses one process of a shared service for all sessions of /mcp and keeps their calls separate', async t => {
	const wix = {...shop('wix'), shared: true};
	const gateway = await startGateway(t, {expose: 'tools', servers: {wix}});
	const sessions = [await gateway.open(''), await gateway.open('')];
	for (const [at, session] of sessions.entries()) {
		const call = {name: 'wix__echo', arguments: {value: at}};
		t.like(await session.request(1, 'tools/call', call), {result: {structuredContent: {value: at}}});
	}
	await gateway.running.says(/wix client/);
	t.is(gateway.running.stderr.match(/wix client/g)?.length, 1);
});

test('rejects calls to a gateway that is its own upstream and keeps serving [J4]', async t => {
	const gateway = await startGateway(t, both);
	const self = {url: new URL('/mcp', gateway.base).href, transport: 'http'};
	await gateway.configure({...both, servers: {...servers, self}});
	await gateway.running.says(/config\.loaded/);
	const session = await gateway.open('');
	t.is(namesIn(await session.request(1, 'tools/list'), 'tools').length, 25);
	const error = errorIn(
		await session.request(2, 'tools/call', {name: 'self__run', arguments: {command: '1'}}),
	);
	t.regex(error.message, /This hub is one of its own servers/);
});

test('closing the gateway stops every upstream of its hubs', async t => {
	const gateway = await startGateway(t, both);
	const session = await gateway.open('');
	await session.request(1, 'tools/list');
	t.is(await gateway.stop(), 0);
	t.is(logged(gateway.running, 'proxy.shutdown').length, 1);
});
