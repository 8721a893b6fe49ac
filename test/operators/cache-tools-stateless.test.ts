import test from 'ava';
import type {JsonObject} from '../../lib/util/json.js';
import {envelope} from '../helpers/version-stages.js';
import {connect, lastOf, newCache, STATELESS, tool} from './cache-tools-support.js';
import {SUBSCRIPTION} from './stateless-support.js';

const [echo, add] = [tool('echo'), tool('add')];
const listChanged = {method: 'notifications/tools/list_changed'};

/** A page of a stateless upstream. */
const page = (tools: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
	resultType: 'complete',
	tools,
	ttlMs: 1000,
	cacheScope: 'private',
	...more,
});

/** Connects a pair with at least one stateless side, and a clock that the test controls. */
function start(client: string, server: string, capabilities: JsonObject = {tools: {listChanged: true}}) {
	const time = {now: 0};
	const {cache, logged} = newCache({now: () => time.now});
	const pair = connect({cache, client, server, capabilities});
	const listen = (id: string): void =>
		pair.client.send({
			id,
			method: 'subscriptions/listen',
			params: {notifications: {toolsListChanged: true}, _meta: envelope()},
		});
	const acknowledge = (id: unknown): void =>
		pair.upstream.send({
			method: 'notifications/subscriptions/acknowledged',
			params: {_meta: {[SUBSCRIPTION]: id}, notifications: {toolsListChanged: true}},
		});
	const notifyStream = (id: unknown): void =>
		pair.upstream.send({...listChanged, params: {_meta: {[SUBSCRIPTION]: id}}});
	/** The streams on which the client was notified of changed tools. */
	const notifiedStreams = (): unknown[] =>
		pair.client.received
			.filter(({method}) => method === listChanged.method)
			.map(({params}) => ((params as JsonObject)._meta as JsonObject)[SUBSCRIPTION]);
	return {...pair, time, listen, acknowledge, notifyStream, notifiedStreams, storeLogged: logged};
}

test('requests the list from a stateless upstream in its own version', t => {
	const {listRequests, respond, request, responseTo, notifications} = start('2025-11-25', STATELESS);
	t.like(listRequests()[0]?.params, {_meta: {'io.modelcontextprotocol/protocolVersion': STATELESS}});
	respond(page([echo]));
	t.is(notifications(), 1);
	request(1);
	t.deepEqual(responseTo(1)?.result, {tools: [echo]});
	t.is(listRequests().length, 1);
});

test('notifies a handshake client of changed tools of a stateless upstream in its own version', t => {
	const {upstream, acknowledge, notifyStream, respond, client} = start('2025-11-25', STATELESS);
	respond(page([echo]));
	const listen = upstream.received.find(({method}) => method === 'subscriptions/listen');
	acknowledge(listen?.id);
	notifyStream(listen?.id);
	respond(page([add]));
	t.deepEqual(lastOf(client), {jsonrpc: '2.0', ...listChanged});
});

test('responds to a stateless client from the cache in the stateless version', t => {
	const {request, responseTo, respond, listRequests} = start(STATELESS, '2025-11-25');
	respond({tools: [echo]});
	request(1);
	t.like(responseTo(1), {result: {resultType: 'complete', tools: [{name: 'echo'}], ttlMs: 0}});
	t.is(listRequests().length, 1);
});

test('notifies a stateless client only on its stream, even for an upstream without listChanged', t => {
	const {respond, notifyChange, listen, client, notifiedStreams} = start(STATELESS, '2025-11-25', {
		tools: {},
	});
	respond({tools: [echo]});
	t.false(client.received.some(({method}) => method === listChanged.method));
	listen('L');
	t.like(lastOf(client), {params: {notifications: {toolsListChanged: true}}});
	notifyChange();
	respond({tools: [add]});
	t.deepEqual(notifiedStreams(), ['L']);
});

test('between stateless sides, returns the list of the upstream with its remaining ttlMs', t => {
	const {request, responseTo, respond, listRequests, time} = start(STATELESS, STATELESS);
	respond(page([echo], {_meta: {x: 1}}));
	time.now = 400;
	request(1);
	t.deepEqual(responseTo(1)?.result, page([echo], {_meta: {x: 1}, ttlMs: 600}));
	t.is(listRequests().length, 1);
});

test('fetches a list again after its ttlMs', t => {
	const {request, responseTo, respond, listRequests, time, notifications} = start('2025-11-25', STATELESS);
	respond(page([echo], {nextCursor: 'b', ttlMs: 5000}));
	respond(page([], {ttlMs: 1000}));
	time.now = 999;
	request(1);
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	time.now = 1000;
	request(2);
	t.is(responseTo(2), undefined);
	t.is(listRequests().length, 3);
	respond(page([add]));
	t.like(responseTo(2), {result: {tools: [{name: 'add'}]}});
	t.is(notifications(), 2);
});

test('fetches a list with a ttlMs of 0 for every request', t => {
	const {request, responseTo, respond, listRequests, notifications} = start('2025-11-25', STATELESS);
	respond(page([echo], {ttlMs: 0}));
	for (const id of [1, 2]) {
		request(id);
		respond(page([echo], {ttlMs: 0}));
		t.like(responseTo(id), {result: {tools: [{name: 'echo'}]}});
	}
	t.is(listRequests().length, 3);
	t.is(notifications(), 1);
});

test('returns an expired list once when the refresh fails [C13]', async t => {
	const {request, responseTo, respond, fail, listRequests, time, storeLogged} = start(STATELESS, STATELESS);
	respond(page([echo]));
	time.now = 5000;
	request(1);
	fail();
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}], ttlMs: 0}});
	request(2);
	fail();
	t.is(listRequests().at(-1)?.id, 2);
	t.is((await storeLogged('tools.stale')).length, 2);
});

test('between stateless sides, notifies each open stream of a change, and no other', t => {
	const {respond, listen, acknowledge, notifyStream, client, upstream, notifiedStreams} = start(
		STATELESS,
		STATELESS,
	);
	respond(page([echo]));
	for (const id of ['A', 'B', 'C']) {
		listen(id);
		acknowledge(id);
	}
	client.send({method: 'notifications/cancelled', params: {requestId: 'B'}});
	upstream.send({id: 'C', result: {resultType: 'complete'}});
	t.deepEqual(notifiedStreams(), []);
	notifyStream('A');
	t.deepEqual(notifiedStreams(), []);
	respond(page([echo]));
	t.deepEqual(notifiedStreams(), []);
	notifyStream('A');
	respond(page([add]));
	t.deepEqual(notifiedStreams(), ['A']);
});

test('between stateless sides, forwards a request without its envelope', t => {
	const {respond, client, listRequests} = start(STATELESS, STATELESS);
	respond(page([echo]));
	client.send({id: 1, method: 'tools/list'});
	t.is(listRequests().at(-1)?.id, 1);
});

test('ignores streams that the client has not opened [SEC-D5]', t => {
	const {respond, listen, acknowledge, notifyStream, notifiedStreams} = start(STATELESS, STATELESS);
	respond(page([echo]));
	listen('A');
	for (const id of ['A', 'never opened', 'x'.repeat(10_000)]) acknowledge(id);
	notifyStream('A');
	respond(page([add]));
	t.deepEqual(notifiedStreams(), ['A']);
});
