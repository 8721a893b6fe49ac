import test from 'ava';
import type {JsonObject} from '../../lib/util/json.js';
import {envelope} from '../helpers/version-stages.js';
import {caching, lastOf, MODERN, newCache, tool} from './cache-tools-support.js';
import {SUBSCRIPTION} from './stateless-support.js';

const [echo, add] = [tool('echo'), tool('add')];
const news = {method: 'notifications/tools/list_changed'};

/** A page of a modern server. */
const page = (tools: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
	resultType: 'complete',
	tools,
	ttlMs: 1000,
	cacheScope: 'private',
	...more,
});

/** Two, of which at least one is modern, with time in the hands of the test. */
function start(client: string, server: string, capabilities: JsonObject = {tools: {listChanged: true}}) {
	const time = {now: 0};
	const {cache, logged} = newCache({now: () => time.now});
	const pair = caching({cache, client, server, capabilities});
	const listen = (id: string): void =>
		pair.client.send({
			id,
			method: 'subscriptions/listen',
			params: {notifications: {toolsListChanged: true}, _meta: envelope()},
		});
	/** The server takes note of a stream. */
	const acknowledge = (id: unknown): void =>
		pair.upstream.send({
			method: 'notifications/subscriptions/acknowledged',
			params: {_meta: {[SUBSCRIPTION]: id}, notifications: {toolsListChanged: true}},
		});
	const say = (id: unknown): void => pair.upstream.send({...news, params: {_meta: {[SUBSCRIPTION]: id}}});
	/** The streams in which the client was told that tools changed. */
	const streams = (): unknown[] =>
		pair.client.received
			.filter(({method}) => method === news.method)
			.map(({params}) => ((params as JsonObject)._meta as JsonObject)[SUBSCRIPTION]);
	return {...pair, time, listen, acknowledge, say, streams, storeLogged: logged};
}

test('Cache tools/list: a server without handshake is asked in its own words', t => {
	const {lists, give, ask, answer, told} = start('2025-11-25', MODERN);
	t.like(lists()[0]?.params, {_meta: {'io.modelcontextprotocol/protocolVersion': MODERN}});
	give(page([echo]));
	t.is(told(), 1);
	ask(1);
	t.deepEqual(answer(1)?.result, {tools: [echo]});
	t.is(lists().length, 1);
});

test('a handshake client hears of a change of a modern server’s tools in its own words', t => {
	const {upstream, acknowledge, say, give, client} = start('2025-11-25', MODERN);
	give(page([echo]));
	const listen = upstream.received.find(({method}) => method === 'subscriptions/listen');
	acknowledge(listen?.id);
	say(listen?.id);
	give(page([add]));
	t.deepEqual(lastOf(client), {jsonrpc: '2.0', ...news});
});

test('a modern client is answered from the cache as a modern server would have', t => {
	const {ask, answer, give, lists} = start(MODERN, '2025-11-25');
	give({tools: [echo]});
	ask(1);
	t.like(answer(1), {result: {resultType: 'complete', tools: [{name: 'echo'}], ttlMs: 0}});
	t.is(lists().length, 1);
});

test('a modern client hears of changes in its stream only, also of a server that tells of none', t => {
	const {give, change, listen, client, streams} = start(MODERN, '2025-11-25', {tools: {}});
	give({tools: [echo]});
	t.false(client.received.some(({method}) => method === news.method));
	listen('L');
	t.like(lastOf(client), {params: {notifications: {toolsListChanged: true}}});
	change();
	give({tools: [add]});
	t.deepEqual(streams(), ['L']);
});

test('between two modern ones the list is given as the server did, with the time that is left of it', t => {
	const {ask, answer, give, lists, time} = start(MODERN, MODERN);
	give(page([echo], {_meta: {x: 1}}));
	time.now = 400;
	ask(1);
	t.deepEqual(answer(1)?.result, page([echo], {_meta: {x: 1}, ttlMs: 600}));
	t.is(lists().length, 1);
});

test('a list is asked for anew when its ttlMs is over', t => {
	const {ask, answer, give, lists, time, told} = start('2025-11-25', MODERN);
	give(page([echo], {nextCursor: 'b', ttlMs: 5000}));
	give(page([], {ttlMs: 1000}));
	time.now = 999;
	ask(1);
	t.like(answer(1), {result: {tools: [{name: 'echo'}]}});
	time.now = 1000;
	ask(2);
	t.is(answer(2), undefined);
	t.is(lists().length, 3);
	give(page([add]));
	t.like(answer(2), {result: {tools: [{name: 'add'}]}});
	t.is(told(), 2);
});

test('a list that holds good for no time is asked for each time, and its change told', t => {
	const {ask, answer, give, lists, told} = start('2025-11-25', MODERN);
	give(page([echo], {ttlMs: 0}));
	for (const id of [1, 2]) {
		ask(id);
		give(page([echo], {ttlMs: 0}));
		t.like(answer(id), {result: {tools: [{name: 'echo'}]}});
	}
	t.is(lists().length, 3);
	t.is(told(), 1);
});

test('a list whose time is over is given once when the server has no other [C13]', async t => {
	const {ask, answer, give, refuse, lists, time, storeLogged} = start(MODERN, MODERN);
	give(page([echo]));
	time.now = 5000;
	ask(1);
	refuse();
	t.like(answer(1), {result: {tools: [{name: 'echo'}], ttlMs: 0}});
	ask(2);
	refuse();
	t.is(lists().at(-1)?.id, 2);
	t.is((await storeLogged('tools.stale')).length, 2);
});

test('between two modern ones a change is told in each stream that is open, and in no other', t => {
	const {give, listen, acknowledge, say, client, upstream, streams} = start(MODERN, MODERN);
	give(page([echo]));
	for (const id of ['A', 'B', 'C']) {
		listen(id);
		acknowledge(id);
	}
	client.send({method: 'notifications/cancelled', params: {requestId: 'B'}});
	upstream.send({id: 'C', result: {resultType: 'complete'}});
	t.deepEqual(streams(), []);
	say('A');
	t.deepEqual(streams(), []);
	give(page([echo]));
	t.deepEqual(streams(), []);
	say('A');
	give(page([add]));
	t.deepEqual(streams(), ['A']);
});

test('between two modern ones a request without its envelope is left to the server', t => {
	const {give, client, lists} = start(MODERN, MODERN);
	give(page([echo]));
	client.send({id: 1, method: 'tools/list'});
	t.is(lists().at(-1)?.id, 1);
});

test('a stream that the client has not opened is not kept, and gets no notifications [SEC-D5]', t => {
	const {give, listen, acknowledge, say, streams} = start(MODERN, MODERN);
	give(page([echo]));
	listen('A');
	for (const id of ['A', 'never opened', 'x'.repeat(10_000)]) acknowledge(id);
	say('A');
	give(page([add]));
	t.deepEqual(streams(), ['A']);
});
