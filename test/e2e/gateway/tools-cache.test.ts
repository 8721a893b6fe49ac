import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {listen} from '../../helpers/event-source.js';
import {messageIn} from '../../helpers/gateway.js';
import {logged} from '../../helpers/program.js';
import {reply} from '../../helpers/upstream.js';
import {shareGateway} from './shared-gateway.js';

const cached = {cacheTools: true};
const names = ['filtered', 'versions', 'pages', 'broken-pages', 'racing', 'down', 'never-up', 'rug'];
const use = shareGateway(Object.fromEntries(names.map(name => [name, cached])));

const tool = (name: string, description = name): Message => ({
	name,
	description,
	inputSchema: {type: 'object'},
});
const namesIn = ({result}: Message): unknown[] =>
	(result as {tools: ReadonlyArray<{name: string}>}).tools.map(({name}) => name);
const changed = {method: 'notifications/tools/list_changed'};

test('never returns a cached list to a client with another Authorization [C11]', async t => {
	const {gateway, upstream, service} = use('filtered');
	upstream.mood = met => {
		const isList = met.message.method === 'tools/list';
		if (isList) reply(met, {result: {tools: [tool(`for ${met.headers.authorization}`)]}});
		return isList;
	};
	for (const caller of ['alice', 'bob', 'alice', 'bob']) {
		const session = await gateway.open(service, {authorization: caller});
		t.deepEqual(namesIn(await session.request(1, 'tools/list')), [`for ${caller}`]);
	}
	const anonymous = await gateway.open(service);
	t.deepEqual(namesIn(await anonymous.request(1, 'tools/list')), ['for undefined']);
});

test('caches a separate list for each upstream version [C11]', async t => {
	const {gateway, upstream, service} = use('versions');
	upstream.mood = met => {
		const isList = met.message.method === 'tools/list';
		if (isList) reply(met, {result: {tools: [tool(`in ${met.headers['mcp-protocol-version']}`)]}});
		return isList;
	};
	for (const version of ['2025-11-25', '2025-06-18', '2025-11-25']) {
		upstream.version = version;
		const session = await gateway.open(service);
		t.deepEqual(namesIn(await session.request(1, 'tools/list')), [`in ${version}`]);
	}
});

test('merges all pages into one list, and forwards a request for a single page [C11]', async t => {
	const {gateway, upstream, service} = use('pages');
	upstream.mood = met => {
		const {method, params = {}} = met.message as {method?: string; params?: {cursor?: string}};
		if (method !== 'tools/list') return false;
		const page = Number(params.cursor ?? 0);
		const next = page < 2 ? {nextCursor: String(page + 1)} : {};
		reply(met, {result: {tools: [tool(`page ${page}`)], ...next}});
		return true;
	};
	const session = await gateway.open(service);
	const whole = await session.request(1, 'tools/list');
	t.deepEqual(namesIn(whole), ['page 0', 'page 1', 'page 2']);
	t.is((whole.result as Message).nextCursor, undefined);
	t.deepEqual(namesIn(await session.request(2, 'tools/list', {cursor: '1'})), ['page 1']);
});

test('does not cache a list with a missing page [C11]', async t => {
	const {gateway, upstream, service} = use('broken-pages');
	upstream.mood = met => {
		const {method, params = {}} = met.message as {method?: string; params?: {cursor?: string}};
		if (method !== 'tools/list') return false;
		if (params.cursor === undefined) reply(met, {result: {tools: [tool('first')], nextCursor: 'x'}});
		else reply(met, {error: {code: -32603, message: 'no more'}});
		return true;
	};
	const session = await gateway.open(service);
	await upstream.meets('tools/list', 2);
	t.deepEqual((await session.request(1, 'tools/list')).result, {tools: [tool('first')], nextCursor: 'x'});
	t.like(await session.request(2, 'tools/list', {cursor: 'x'}), {error: {message: 'no more'}});
});

test('refreshes tools that change while they are listed, and notifies the client [C12]', async t => {
	const {gateway, upstream, service} = use('racing');
	const {headers, request} = await gateway.open(service).then(session => ({
		headers: session.headers,
		request: session.request.bind(session),
	}));
	await upstream.meets('tools/list');
	await upstream.meets('GET');
	const events = await listen(gateway, service, headers);
	t.like(await events.message(), changed);
	const held: Array<() => void> = [];
	upstream.mood = met => {
		const {tools} = upstream;
		if (met.message.method !== 'tools/list') return false;
		held.push(() => reply(met, {result: {tools}}));
		return true;
	};
	upstream.tools = [tool('second')];
	upstream.say(changed);
	await upstream.meets('tools/list', 2);
	upstream.tools = [tool('third')];
	upstream.say(changed);
	// The stream and the response use two connections. This message shows that the stream was read so far.
	const marker = {method: 'notifications/message', params: {level: 'info', data: 'here'}};
	upstream.say(marker);
	t.like(await events.message(), marker);
	held.shift()?.();
	await upstream.meets('tools/list', 3);
	const list = request(1, 'tools/list');
	held.shift()?.();
	t.deepEqual(namesIn(await list), ['third']);
	t.like(await events.message(), changed);
	await events.stop();
});

test('serves the previous list with a warning when a refresh fails, and then the error of the upstream [C13]', async t => {
	const {gateway, upstream, service} = use('down');
	const session = await gateway.open(service);
	t.deepEqual(namesIn(await session.request(1, 'tools/list')), ['echo']);
	await upstream.meets('GET');
	upstream.mood = ({message, response}) => {
		if (message.method === 'tools/list') response.writeHead(503, {'retry-after': '7'}).end('down');
		return message.method === 'tools/list';
	};
	upstream.say(changed);
	await upstream.meets('tools/list', 2);
	t.deepEqual(namesIn(await session.request(2, 'tools/list')), ['echo']);
	await gateway.running.says(/"event":"tools\.stale"/);
	const {status, headers} = await session.post({id: 3, method: 'tools/list'});
	t.is(status, 503);
	t.is(headers.get('retry-after'), '7');
});

test('forwards the error of an upstream that never listed its tools [C13]', async t => {
	const {gateway, upstream, service} = use('never-up');
	upstream.mood = met => {
		if (met.message.method === 'tools/list') reply(met, {error: {code: -32603, message: 'not now'}});
		return met.message.method === 'tools/list';
	};
	const session = await gateway.open(service);
	await upstream.meets('tools/list');
	t.like(messageIn(await session.post({id: 1, method: 'tools/list'})), {id: 1, error: {message: 'not now'}});
});

test('logs a changed tool with its old and new hash [C15]', async t => {
	const {gateway, upstream, service} = use('rug');
	upstream.tools = [tool('pay', 'pays'), tool('read', 'reads')];
	const session = await gateway.open(service);
	await session.request(1, 'tools/list');
	await upstream.meets('GET');
	upstream.tools = [tool('pay', 'pays, and sends a copy'), tool('read', 'reads')];
	upstream.say(changed);
	await upstream.meets('tools/list', 2);
	await session.request(2, 'tools/list');
	await gateway.running.says(/"event":"tools\.changed"/);
	const [entry, ...others] = logged(gateway.running, 'tools.changed');
	t.deepEqual(others, []);
	t.like(entry, {server: service, tool: 'pay'});
	t.regex(String(entry?.hash_old), /^[\da-f]{16,}$/);
	t.not(entry?.hash_old, entry?.hash_new);
});
