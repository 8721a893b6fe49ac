import test from 'ava';
import {logged, start} from '../../helpers/program.js';
import {type Met, type Mood, reply, type Upstream} from '../../helpers/upstream.js';
import {plain, shareGateway} from './shared-gateway.js';

const use = shareGateway(
	plain('late', 'rotated', 'accepted', 'invalid', 'lost', 'slow', 'wrapped', 'modern'),
);

const idOf = ({headers}: Met): unknown => headers['mcp-session-id'];
const idsOf = (upstream: Upstream, method: string): unknown[] => upstream.asked(method).map(idOf);

/** Responds without checking sessions, with the session id that `name` returns for a request, if any. */
const naming =
	(name: (met: Met) => string | undefined): Mood =>
	(met, upstream) => {
		const session = name(met);
		if (session !== undefined) met.response.setHeader('mcp-session-id', session);
		upstream.hasSessions = false;
		upstream.behave(met);
		return true;
	};

test('uses a session id of a later response from then on [A-D4]', async t => {
	const {gateway, upstream} = use('late');
	upstream.hasStream = false;
	upstream.mood = naming(({message}) => (message.method === 'tools/list' ? 'LATE' : undefined));
	const session = await gateway.open('late');
	await session.request(1, 'tools/list');
	const response = await session.post({id: 2, method: 'tools/call', params: {name: 'echo'}});
	t.deepEqual(idsOf(upstream, 'tools/list'), [undefined]);
	t.deepEqual(idsOf(upstream, 'tools/call'), ['LATE']);
	t.not(response.headers.get('mcp-session-id'), 'LATE', 'the client has a separate id');
	await upstream.becomes(() => idsOf(upstream, 'GET').includes('LATE') || undefined);
	await gateway.fetch('/mcp/late', {method: 'DELETE', headers: session.headers});
	t.deepEqual(idsOf(upstream, 'DELETE'), ['LATE']);
});

test('uses a replaced session id for later requests, while the client keeps its id [A-D4]', async t => {
	const {gateway, upstream} = use('rotated');
	let count = 0;
	upstream.mood = naming(({verb, message}) =>
		verb === 'POST' && message.id !== undefined ? `S-${++count}` : undefined,
	);
	const session = await gateway.open('rotated');
	for (const id of [1, 2, 3]) {
		const response = await session.post({id, method: 'tools/call', params: {name: 'echo'}});
		t.is(response.status, 200);
		t.false([...response.headers.values()].some(value => value.startsWith('S-')));
	}
	t.deepEqual(idsOf(upstream, 'tools/call'), ['S-1', 'S-2', 'S-3']);
	await gateway.fetch('/mcp/rotated', {method: 'DELETE', headers: session.headers});
	t.deepEqual(idsOf(upstream, 'DELETE'), ['S-4'], 'DELETE uses the latest id');
});

test('uses a session id of the 202 for a notification from then on [A-D4]', async t => {
	const {gateway, upstream} = use('accepted');
	upstream.mood = naming(({message}) =>
		message.method === 'notifications/initialized' ? 'ACCEPTED' : undefined,
	);
	const session = await gateway.open('accepted');
	await session.request(1, 'tools/list');
	t.deepEqual(idsOf(upstream, 'tools/list'), ['ACCEPTED']);
	t.is(idOf(await upstream.meets('GET')), 'ACCEPTED');
});

test('uses a session id of the 202 for notifications/initialized in queued requests [A-D4]', async t => {
	const {gateway, upstream} = use('slow');
	const waiting: Array<() => void> = [];
	upstream.mood = (met, self) => {
		if (met.message.method !== 'notifications/initialized') return naming(() => undefined)(met, self);
		waiting.push(() => naming(() => 'QUEUED')(met, self));
		return true;
	};
	const opened = await gateway.post('slow', {
		id: 0,
		method: 'initialize',
		params: {protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {name: 'c', version: '1'}},
	});
	const headers = {'mcp-session-id': opened.headers.get('mcp-session-id') ?? ''};
	await gateway.post('slow', {method: 'notifications/initialized'}, headers);
	const list = gateway.post('slow', {id: 1, method: 'tools/list'}, headers);
	await upstream.meets('notifications/initialized');
	for (const accept of waiting) accept();
	t.is((await list).status, 200);
	t.deepEqual(idsOf(upstream, 'tools/list'), ['QUEUED']);
});

test('logs an invalid session id in a later response, and keeps the current one [A-D4]', async t => {
	const {gateway, upstream} = use('invalid');
	const names = ['a b', 'x'.repeat(1025)];
	upstream.mood = naming(({message}) =>
		message.method === 'initialize'
			? 'GOOD'
			: message.method === 'tools/call'
				? names[Number(message.id) - 1]
				: undefined,
	);
	const session = await gateway.open('invalid');
	for (const id of [1, 2, 3])
		t.like(await session.request(id, 'tools/call', {name: 'echo'}), {
			id,
			result: {content: [{type: 'text'}]},
		});
	t.deepEqual(idsOf(upstream, 'tools/call'), ['GOOD', 'GOOD', 'GOOD']);
	const warnings = logged(gateway.running, 'session.id.refused');
	t.deepEqual(
		warnings.map(({server, length}) => [server, length]),
		names.map(name => ['invalid', name.length]),
	);
});

test('does not restore the id of a lost session from a late response [A-D4]', async t => {
	const {gateway, upstream} = use('lost');
	const session = await gateway.open('lost');
	const held: Met[] = [];
	upstream.mood = met => met.message.id === 'held' && held.push(met) > 0;
	const late = session.request('held', 'tools/call', {name: 'echo'});
	await upstream.becomes(() => held[0]);
	upstream.lose();
	await session.request(1, 'tools/call', {name: 'echo'});
	const [renewed] = upstream.sessions;
	reply(held[0] as Met, {result: {content: []}}, {'mcp-session-id': 'ROTATED-AFTER-ITS-END'});
	t.like(await late, {id: 'held'});
	await session.request(2, 'tools/call', {name: 'echo'});
	t.is(upstream.asked('tools/call').map(idOf).at(-1), renewed);
});

test('ignores a session id in a stateless response [A-D4]', async t => {
	const {gateway, upstream} = use('modern');
	upstream.mood = naming(() => 'NONE');
	const _meta = {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28',
		'io.modelcontextprotocol/clientInfo': {name: 'c', version: '1'},
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	const version = {'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list'};
	for (const id of [1, 2])
		t.is((await gateway.post('modern', {id, method: 'tools/list', params: {_meta}}, version)).status, 200);
	const ids = upstream.met.filter(({headers}) => headers['mcp-protocol-version'] === '2026-07-28').map(idOf);
	t.true(ids.every(id => id === undefined));
});

test('bridge --url uses a late session id and its replacement [A-D4]', async t => {
	const {upstream} = use('wrapped');
	upstream.mood = naming(({message}) => (message.id === 1 ? 'ONE' : message.id === 2 ? 'TWO' : undefined));
	const bridge = start(t, ['--url', upstream.url]);
	await bridge.shakeHands();
	for (const id of [1, 2, 3]) await bridge.request(id, 'tools/list', {});
	t.deepEqual(idsOf(upstream, 'tools/list'), [undefined, 'ONE', 'TWO']);
	await bridge.end();
	t.deepEqual(idsOf(upstream, 'DELETE'), ['TWO']);
});
