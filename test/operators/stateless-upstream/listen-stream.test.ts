import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf, type Pair} from '../../helpers/version-stages.js';
import {SUBSCRIPTION, statelessUpstreamPair, takeReceived} from '../stateless-support.js';

const start = (listChanged: boolean): Pair => {
	const pair = statelessUpstreamPair({
		isInitialized: false,
		serverCapabilities: {tools: {listChanged}, resources: {}},
	});
	pair.client.send({method: 'notifications/initialized'});
	return pair;
};

const subscribe = ({client}: Pair, id: unknown, uri: string, method = 'resources/subscribe'): void =>
	client.send({id, method, params: {uri}});

/** Acknowledges a stream with these resources. */
const acknowledge = ({upstream}: Pair, id: unknown, ...resourceSubscriptions: string[]): void =>
	upstream.send({
		method: 'notifications/subscriptions/acknowledged',
		params: {_meta: {[SUBSCRIPTION]: id}, notifications: {resourceSubscriptions}},
	});

const requestedNotifications = (message: unknown): unknown =>
	objectOf(objectOf(message).params).notifications;

test('opens a stream for all lists with listChanged after the handshake', t => {
	const {upstream, client} = start(true);
	t.like(lastOf(upstream), {
		method: 'subscriptions/listen',
		params: {notifications: {toolsListChanged: true}},
	});
	t.is(upstream.received.length, 1);
	t.deepEqual(client.received, []);
});

test('does not open a stream to an upstream without notifications', t => {
	t.deepEqual(start(false).upstream.received, []);
});

test('responds to a subscription after the acknowledgment of its stream', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	t.deepEqual(requestedNotifications(lastOf(pair.upstream)), {resourceSubscriptions: ['a:']});
	t.deepEqual(pair.client.received, []);
	acknowledge(pair, id, 'a:');
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
});

test('opens a new stream for another subscription, and closes the old one after the acknowledgment', t => {
	const pair = start(true);
	const {id: first} = lastOf(pair.upstream);
	acknowledge(pair, first);
	takeReceived(pair.upstream);
	subscribe(pair, 1, 'a:');
	const [listen, ...others] = takeReceived(pair.upstream);
	t.deepEqual(requestedNotifications(listen), {toolsListChanged: true, resourceSubscriptions: ['a:']});
	t.deepEqual(others, []);
	acknowledge(pair, listen?.id, 'a:');
	t.like(takeReceived(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: first}}]);
});

test('collects subscriptions while a stream is pending, and opens one stream for them', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const [first] = takeReceived(pair.upstream);
	subscribe(pair, 2, 'b:');
	subscribe(pair, 3, 'c:');
	t.deepEqual(takeReceived(pair.upstream), []);
	acknowledge(pair, first?.id, 'a:');
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	const [listen, ...others] = takeReceived(pair.upstream);
	t.deepEqual(requestedNotifications(listen), {resourceSubscriptions: ['a:', 'b:', 'c:']});
	t.deepEqual(others, []);
	acknowledge(pair, listen?.id, 'a:', 'b:', 'c:');
	t.deepEqual(takeReceived(pair.client), [
		{jsonrpc: '2.0', id: 2, result: {}},
		{jsonrpc: '2.0', id: 3, result: {}},
	]);
	t.like(takeReceived(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: first?.id}}]);
});

test('fails a subscription that is not granted, and does not request it again', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	acknowledge(pair, lastOf(pair.upstream).id);
	t.like(takeReceived(pair.client), [{id: 1, error: {code: -32602}}]);
	subscribe(pair, 2, 'b:');
	t.deepEqual(requestedNotifications(lastOf(pair.upstream)), {resourceSubscriptions: ['b:']});
});

test('fails the subscription when its stream is rejected', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	pair.upstream.send({id: lastOf(pair.upstream).id, error: {code: -32601, message: 'no'}});
	t.like(takeReceived(pair.client), [{id: 1, error: {code: -32602}}]);
});

test('opens a new stream without an unsubscribed resource', t => {
	const pair = start(true);
	acknowledge(pair, lastOf(pair.upstream).id);
	subscribe(pair, 1, 'a:');
	acknowledge(pair, lastOf(pair.upstream).id, 'a:');
	takeReceived(pair.client);
	subscribe(pair, 2, 'a:', 'resources/unsubscribe');
	t.deepEqual(requestedNotifications(lastOf(pair.upstream)), {toolsListChanged: true});
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 2, result: {}}]);
});

test('closes the stream after the last unsubscription', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	acknowledge(pair, id, 'a:');
	takeReceived(pair.upstream);
	subscribe(pair, 2, 'a:', 'resources/unsubscribe');
	t.like(takeReceived(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: id}}]);
});

test('accepts an unsubscription of an unknown resource without a message to the upstream', t => {
	const pair = start(true);
	takeReceived(pair.upstream);
	subscribe(pair, 1, 'a:', 'resources/unsubscribe');
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
	t.deepEqual(pair.upstream.received, []);
});

test('ignores the acknowledgment of an unknown stream', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	acknowledge(pair, 'other', 'a:');
	t.deepEqual(pair.client.received, []);
});

test('reopens a stream that the upstream has closed, without a message to the client', async t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	acknowledge(pair, id, 'a:');
	takeReceived(pair.client);
	pair.upstream.send({id, result: {resultType: 'complete'}});
	t.deepEqual(pair.client.received, []);
	t.true((await pair.entries()).some(({event}) => event === 'proxy.listen.ended'));
	t.deepEqual(requestedNotifications(lastOf(pair.upstream)), {resourceSubscriptions: ['a:']});
});

test('removes the stream id from notifications to the client', t => {
	const pair = start(true);
	const _meta = {[SUBSCRIPTION]: lastOf(pair.upstream).id};
	acknowledge(pair, lastOf(pair.upstream).id);
	pair.upstream.send({method: 'notifications/tools/list_changed', params: {_meta}});
	pair.upstream.send({
		method: 'notifications/resources/updated',
		params: {uri: 'a:', _meta: {..._meta, x: 1}},
	});
	t.deepEqual(takeReceived(pair.client), [
		{jsonrpc: '2.0', method: 'notifications/tools/list_changed'},
		{jsonrpc: '2.0', method: 'notifications/resources/updated', params: {uri: 'a:', _meta: {x: 1}}},
	]);
});

test('does not fail pending subscriptions when the old stream ends', t => {
	const pair = start(true);
	const {id: first} = lastOf(pair.upstream);
	acknowledge(pair, first);
	subscribe(pair, 1, 'a:');
	const {id: second} = lastOf(pair.upstream);
	pair.upstream.send({id: first, result: {resultType: 'complete'}});
	acknowledge(pair, second, 'a:');
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, result: {}}]);
});

test('closes a stream on its acknowledgment if its resource was unsubscribed before', t => {
	const pair = start(false);
	subscribe(pair, 1, 'a:');
	const {id} = lastOf(pair.upstream);
	takeReceived(pair.upstream);
	subscribe(pair, 2, 'a:', 'resources/unsubscribe');
	acknowledge(pair, id, 'a:');
	t.like(takeReceived(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: id}}]);
});
