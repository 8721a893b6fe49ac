import {readFile} from 'node:fs/promises';
import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {listen} from '../../helpers/event-source.js';
import {messageIn} from '../../helpers/gateway.js';
import {logged, until} from '../../helpers/program.js';
import {plain, shareGateway} from './shared-gateway.js';

const old = {targetVersion: '2024-11-05'};
const accept = 'application/json, text/event-stream;q=0.5';
const contentType = 'application/json; charset=utf-8';
const servers = {
	...plain('untouched', 'routed', 'authorized', 'tracked', 'injected', 'debugged'),
	rewritten: old,
	renamed: {...old, clientVersion: '2025-06-18'},
	headers: {accept, contentType},
	cached: {cacheTools: true},
	changed: {cacheTools: true},
	served: {cacheTools: true},
};
const services = Object.keys(servers);
const use = shareGateway(servers, {}, ['--debug']);

const namesIn = (list: Message): unknown[] =>
	(list.result as {tools: ReadonlyArray<{name: string}>}).tools.map(({name}) => name);

test('Unknown service: 404, with the names of known services [GW-1]', async t => {
	const {gateway, upstream} = use('untouched');
	const reply = await gateway.post('other', {id: 1, method: 'ping'});
	t.is(reply.status, 404);
	const names = services.toSorted((a, b) => (a < b ? -1 : 1));
	t.deepEqual(messageIn(reply).error, {
		code: -32000,
		message: `There is no such service. Services: ${names.join(', ')}.`,
		data: {services: names},
	});
	t.is(upstream.met.length, 0);
});

test('Known service: a request is forwarded to the configured upstream URL [GW-2]', async t => {
	const {gateway, upstream} = use('routed');
	const session = await gateway.open('routed');
	t.deepEqual(namesIn(await session.request(1, 'tools/list')), ['echo']);
	t.deepEqual([...new Set(upstream.met.map(({request}) => request.url))], ['/mcp']);
});

test('Rewrite initialize request: the upstream receives the target protocol version [GW-3]', async t => {
	const {gateway, upstream} = use('rewritten');
	await gateway.open('rewritten');
	const {message} = await upstream.meets('initialize');
	t.like(message.params, {protocolVersion: '2024-11-05'});
});

test('Rewrite initialize response: the client receives the configured client protocol version [GW-4]', async t => {
	const {gateway} = use('renamed');
	const {welcome} = await gateway.open('renamed');
	t.is((welcome.result as Message).protocolVersion, '2025-06-18');
});

test('Enforce Accept and Content-Type: the configured headers are on every proxied request [GW-5]', async t => {
	const {gateway, upstream} = use('headers');
	const {headers} = await gateway.open('headers', {accept: '*/*', 'content-type': 'application/json'});
	await gateway.post('headers', {id: 1, method: 'tools/list'}, headers);
	const posts = upstream.met.filter(({verb}) => verb === 'POST');
	t.is(posts.length, 3);
	for (const post of posts) {
		t.is(post.headers.accept, accept);
		t.is(post.headers['content-type'], contentType);
	}
});

test('Authorization passthrough: the upstream receives the same Authorization header [GW-6]', async t => {
	const {gateway, upstream} = use('authorized');
	const authorization = 'Bearer  odd spacing=and,Case';
	const session = await gateway.open('authorized', {authorization});
	await session.request(1, 'tools/list');
	await upstream.meets('GET');
	t.true(upstream.met.length >= 4);
	for (const {headers} of upstream.met) t.is(headers.authorization, authorization);
});

test('Track session ID: an id of the upstream, in any case and any response, is stored and used from then on [A-D18] [GW-7]', async t => {
	const {gateway, upstream} = use('tracked');
	const session = await gateway.open('tracked');
	await session.request(1, 'tools/list');
	const idOf = (method: string, count = 0) => upstream.asked(method)[count]?.headers['mcp-session-id'];
	t.is(idOf('initialize'), undefined);
	const [upstreamId] = upstream.sessions;
	t.is(idOf('notifications/initialized'), upstreamId);
	t.is(idOf('tools/list'), upstreamId);
	t.not(session.headers['mcp-session-id'], upstreamId, 'each hop has a separate id');
	upstream.mood = ({response}) => {
		upstream.sessions.add('next');
		response.setHeader('MCP-SESSION-ID', 'next');
		return false;
	};
	await session.request(2, 'tools/list');
	await session.request(3, 'tools/list');
	t.is(idOf('tools/list', 1), upstreamId);
	t.is(idOf('tools/list', 2), 'next');
});

test('Inject session ID: a follow-up request without a session ID gets the stored one [GW-8]', async t => {
	const {gateway, upstream} = use('injected');
	await gateway.open('injected');
	const reply = await gateway.post('injected', {id: 1, method: 'tools/list'});
	t.is(reply.status, 200);
	t.deepEqual(namesIn(messageIn(reply)), ['echo']);
	t.is(upstream.asked('tools/list')[0]?.headers['mcp-session-id'], [...upstream.sessions][0]);
});

test('Cache tools/list: it is requested when initialize completes, and cached [GW-9]', async t => {
	const {gateway, upstream} = use('cached');
	await gateway.open('cached');
	const {message} = await upstream.meets('tools/list');
	t.not(message.id, undefined);
});

test('tools/list_changed notification: it is emitted when tools are cached [GW-10]', async t => {
	const {gateway} = use('changed');
	const {headers} = await gateway.open('changed');
	const events = await listen(gateway, 'changed', headers);
	const {method} = await events.message();
	t.is(method, 'notifications/tools/list_changed');
	await events.stop();
});

test('Serve cached tools/list: the client gets the cached list, and no request is sent upstream [GW-11]', async t => {
	const {gateway, upstream} = use('served');
	const session = await gateway.open('served');
	await upstream.meets('tools/list');
	const first = await session.request(1, 'tools/list');
	upstream.tools = [{name: 'other', inputSchema: {type: 'object'}}];
	const second = await session.request(2, 'tools/list');
	t.deepEqual(namesIn(first), ['echo']);
	t.deepEqual(second, {...first, id: 2});
	t.is(upstream.asked('tools/list').length, 1);
});

test('Custom config path: configuration is loaded from the path of --config [GW-12]', async t => {
	const {gateway} = use('routed');
	const [line = ''] = gateway.running.lines;
	t.true(line.includes(gateway.file));
	t.true((await readFile(gateway.file, 'utf8')).includes('routed'));
	const status = JSON.parse((await gateway.fetch('/status')).text);
	t.deepEqual(new Set(Object.keys(status.services)), new Set(services));
});

test('Debug logging: --debug writes debug logs and one line per message [GW-13]', async t => {
	const {gateway, upstream} = use('debugged');
	upstream.hasStream = false;
	const session = await gateway.open('debugged');
	await session.request(1, 'tools/list');
	await until(() => logged(gateway.running, 'http.no_stream').length > 0);
	t.regex(gateway.running.stderr, /→.*tools\/list/);
	t.regex(gateway.running.stderr, /←.*ms/);
});
