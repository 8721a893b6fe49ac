import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf, type Pair} from '../../helpers/version-stages.js';
import {modernServerPair, news, SUBSCRIPTION} from '../stateless-support.js';

const start = (listChanged: boolean): Pair => {
	const pair = modernServerPair({
		isInitialized: false,
		serverCapabilities: {tools: {listChanged}, resources: {}},
	});
	pair.client.send({method: 'notifications/initialized'});
	return pair;
};

const subscribe = ({client}: Pair, id: unknown, uri: string, method = 'resources/subscribe'): void =>
	client.send({id, method, params: {uri}});

/** The server takes note of a stream, and grants these. */
const acknowledge = ({upstream}: Pair, id: unknown, ...resourceSubscriptions: string[]): void =>
	upstream.send({
		method: 'notifications/subscriptions/acknowledged',
		params: {_meta: {[SUBSCRIPTION]: id}, notifications: {resourceSubscriptions}},
	});

const wanted = (message: unknown): unknown => objectOf(objectOf(message).params).notifications;

test('a handshake client that is ready listens to all lists that change', t => {
	const {upstream, client} = start(true);
	t.like(lastOf(upstream), {
		method: 'subscriptions/listen',
		params: {notifications: {toolsListChanged: true}},
	});
	t.is(upstream.received.length, 1);
	t.deepEqual(client.received, []);
});

test('a server that has nothing to tell of is not listened to', t => {
	t.deepEqual(start(false).upstream.received, []);
});

test('a subscription is answered when the stream stands that has it', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	t.deepEqual(wanted(lastOf(pair.upstream)), {resourceSubscriptions: ['a:']});
	t.deepEqual(pair.client.received, []);
	acknowledge(pair, id, 'a:');
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
});

test('another subscription opens the stream anew with all, and closes the old one when it stands', t => {
	const pair = start(true);
	const {id: first} = lastOf(pair.upstream);
	acknowledge(pair, first);
	news(pair.upstream);
	subscribe(pair, 1, 'a:');
	const [listen, ...others] = news(pair.upstream);
	t.deepEqual(wanted(listen), {toolsListChanged: true, resourceSubscriptions: ['a:']});
	t.deepEqual(others, []);
	acknowledge(pair, listen?.id, 'a:');
	t.like(news(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: first}}]);
});

test('while a stream does not stand yet, no other is opened; then one is, with all that came meanwhile', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const [first] = news(pair.upstream);
	subscribe(pair, 2, 'b:');
	subscribe(pair, 3, 'c:');
	t.deepEqual(news(pair.upstream), []);
	acknowledge(pair, first?.id, 'a:');
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	const [listen, ...others] = news(pair.upstream);
	t.deepEqual(wanted(listen), {resourceSubscriptions: ['a:', 'b:', 'c:']});
	t.deepEqual(others, []);
	acknowledge(pair, listen?.id, 'a:', 'b:', 'c:');
	t.deepEqual(news(pair.client), [
		{jsonrpc: '2.0', id: 2, result: {}},
		{jsonrpc: '2.0', id: 3, result: {}},
	]);
	t.like(news(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: first?.id}}]);
});

test('a uri that is not granted is an error, and not asked for again', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	acknowledge(pair, lastOf(pair.upstream).id);
	t.like(news(pair.client), [{id: 1, error: {code: -32602}}]);
	subscribe(pair, 2, 'b:');
	t.deepEqual(wanted(lastOf(pair.upstream)), {resourceSubscriptions: ['b:']});
});

test('a stream that is refused refuses the subscription that it was opened for', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	pair.upstream.send({id: lastOf(pair.upstream).id, error: {code: -32601, message: 'no'}});
	t.like(news(pair.client), [{id: 1, error: {code: -32602}}]);
});

test('an unsubscription opens the stream anew without it', t => {
	const pair = start(true);
	acknowledge(pair, lastOf(pair.upstream).id);
	subscribe(pair, 1, 'a:');
	acknowledge(pair, lastOf(pair.upstream).id, 'a:');
	news(pair.client);
	subscribe(pair, 2, 'a:', 'resources/unsubscribe');
	t.deepEqual(wanted(lastOf(pair.upstream)), {toolsListChanged: true});
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 2, result: {}}]);
});

test('an unsubscription of the last that was listened to closes the stream', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	acknowledge(pair, id, 'a:');
	news(pair.upstream);
	subscribe(pair, 2, 'a:', 'resources/unsubscribe');
	t.like(news(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: id}}]);
});

test('an unsubscription of what was never subscribed to is granted without a word to the server', t => {
	const pair = start(true);
	news(pair.upstream);
	subscribe(pair, 1, 'a:', 'resources/unsubscribe');
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	t.deepEqual(pair.upstream.received, []);
});

test('an acknowledgment of a stream that nobody has opened is for nobody', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	acknowledge(pair, 'other', 'a:');
	t.deepEqual(pair.client.received, []);
});

test('a stream that the server ends is no answer to the client, and is opened anew with all that it had', async t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	acknowledge(pair, id, 'a:');
	news(pair.client);
	pair.upstream.send({id, result: {resultType: 'complete'}});
	t.deepEqual(pair.client.received, []);
	t.true((await pair.entries()).some(({event}) => event === 'proxy.listen.ended'));
	t.deepEqual(wanted(lastOf(pair.upstream)), {resourceSubscriptions: ['a:']});
});

test('a notification reaches the client without the name of the stream', t => {
	const pair = start(true);
	const _meta = {[SUBSCRIPTION]: lastOf(pair.upstream).id};
	acknowledge(pair, lastOf(pair.upstream).id);
	pair.upstream.send({method: 'notifications/tools/list_changed', params: {_meta}});
	pair.upstream.send({
		method: 'notifications/resources/updated',
		params: {uri: 'a:', _meta: {..._meta, x: 1}},
	});
	t.deepEqual(news(pair.client), [
		{jsonrpc: '2.0', method: 'notifications/tools/list_changed'},
		{jsonrpc: '2.0', method: 'notifications/resources/updated', params: {uri: 'a:', _meta: {x: 1}}},
	]);
});

test('the end of the old stream refuses nothing that waits for the next', t => {
	const pair = start(true);
	const {id: first} = lastOf(pair.upstream);
	acknowledge(pair, first);
	subscribe(pair, 1, 'a:');
	const {id: second} = lastOf(pair.upstream);
	pair.upstream.send({id: first, result: {resultType: 'complete'}});
	acknowledge(pair, second, 'a:');
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
});

test('an unsubscription before the stream stands closes it when it does', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	news(pair.upstream);
	subscribe(pair, 2, 'a:', 'resources/unsubscribe');
	acknowledge(pair, id, 'a:');
	t.like(news(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: id}}]);
});
