import test from 'ava';
import type {JsonObject} from '../../../lib/util/json.js';
import {envelope, lastOf, type Pair} from '../../helpers/version-stages.js';
import {SUBSCRIPTION, sendRequest, statelessClientPair, takeReceived} from '../stateless-support.js';

const everything = {
	tools: {listChanged: true},
	prompts: {listChanged: true},
	resources: {listChanged: true, subscribe: true},
};

const listen = (pair: Pair, id: unknown, notifications: JsonObject): void =>
	sendRequest(pair, id, {method: 'subscriptions/listen', params: {notifications}});

const close = ({client}: Pair, requestId: unknown): void =>
	client.send({method: 'notifications/cancelled', params: {requestId}});

/** Accepts or rejects all pending requests upstream. */
function settle({upstream}: Pair, isRejected: (uri: unknown) => boolean = () => false): JsonObject[] {
	const requests = takeReceived(upstream);
	for (const {id, params} of requests)
		upstream.send(
			isRejected((params as JsonObject).uri) ? {id, error: {code: -32002, message: 'no'}} : {id, result: {}},
		);
	return requests;
}

const updated = ({upstream}: Pair, uri: string): void =>
	upstream.send({method: 'notifications/resources/updated', params: {uri}});

const acknowledged = (id: unknown, notifications: JsonObject) => ({
	jsonrpc: '2.0',
	method: 'notifications/subscriptions/acknowledged',
	params: {_meta: {[SUBSCRIPTION]: id}, notifications},
});

test('grants the requested notifications that the upstream offers', t => {
	const pair = statelessClientPair({tools: {listChanged: true}, prompts: {}, resources: {listChanged: true}});
	listen(pair, 'L', {toolsListChanged: true, promptsListChanged: true, resourcesListChanged: false});
	t.deepEqual(takeReceived(pair.client), [acknowledged('L', {toolsListChanged: true})]);
	t.deepEqual(pair.upstream.received, []);
});

test('does not subscribe at an upstream without subscriptions', t => {
	const pair = statelessClientPair({resources: {}});
	listen(pair, 'L', {resourceSubscriptions: ['a:']});
	t.deepEqual(takeReceived(pair.client), [acknowledged('L', {})]);
	t.deepEqual(pair.upstream.received, []);
});

test('acknowledges a stream after the last subscription response, without rejected subscriptions', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:', 'b:', 5]});
	const [first, second, ...others] = takeReceived(pair.upstream);
	t.like(
		[first, second],
		[
			{method: 'resources/subscribe', params: {uri: 'a:'}},
			{method: 'resources/subscribe', params: {uri: 'b:'}},
		],
	);
	t.deepEqual(others, []);
	pair.upstream.send({id: first?.id, result: {}});
	t.deepEqual(pair.client.received, []);
	pair.upstream.send({id: second?.id, error: {code: -32002, message: 'no'}});
	t.deepEqual(takeReceived(pair.client), [acknowledged('L', {resourceSubscriptions: ['a:']})]);
});

test('acknowledges a stream whose subscriptions are all rejected', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true, resourceSubscriptions: ['a:']});
	settle(pair, () => true);
	t.deepEqual(takeReceived(pair.client), [acknowledged('L', {toolsListChanged: true})]);
});

test('sends each notification with its stream id on the streams that were granted it', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true});
	listen(pair, 7, {toolsListChanged: true, promptsListChanged: true});
	takeReceived(pair.client);
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	pair.upstream.send({method: 'notifications/prompts/list_changed', params: {_meta: {a: 1}}});
	pair.upstream.send({method: 'notifications/resources/list_changed'});
	t.deepEqual(takeReceived(pair.client), [
		{jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {_meta: {[SUBSCRIPTION]: 'L'}}},
		{jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {_meta: {[SUBSCRIPTION]: 7}}},
		{
			jsonrpc: '2.0',
			method: 'notifications/prompts/list_changed',
			params: {_meta: {a: 1, [SUBSCRIPTION]: 7}},
		},
	]);
});

test('does not send notifications before the acknowledgment of a stream', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true, resourceSubscriptions: ['a:']});
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	updated(pair, 'a:');
	t.deepEqual(pair.client.received, []);
	settle(pair);
	updated(pair, 'a:');
	t.like(takeReceived(pair.client), [
		{method: 'notifications/subscriptions/acknowledged'},
		{method: 'notifications/resources/updated', params: {uri: 'a:'}},
	]);
});

test('does not notify a client without a stream', t => {
	const pair = statelessClientPair(everything);
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	updated(pair, 'a:');
	t.deepEqual(pair.client.received, []);
});

test('drops updates of a URI that was rejected or not requested', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:', 'b:']});
	settle(pair, uri => uri === 'b:');
	takeReceived(pair.client);
	for (const uri of ['b:', 'c:']) updated(pair, uri);
	t.deepEqual(pair.client.received, []);
});

test('sends updates of a URI on two streams, and keeps the subscription when one of them closes', t => {
	const pair = statelessClientPair(everything);
	for (const id of ['L', 'M']) listen(pair, id, {resourceSubscriptions: ['a:']});
	settle(pair);
	takeReceived(pair.client);
	updated(pair, 'a:');
	t.like(takeReceived(pair.client), [
		{params: {uri: 'a:', _meta: {[SUBSCRIPTION]: 'L'}}},
		{params: {uri: 'a:', _meta: {[SUBSCRIPTION]: 'M'}}},
	]);
	close(pair, 'L');
	t.deepEqual(pair.upstream.received, []);
	updated(pair, 'a:');
	t.like(takeReceived(pair.client), [{params: {_meta: {[SUBSCRIPTION]: 'M'}}}]);
	close(pair, 'M');
	t.like(takeReceived(pair.upstream), [{method: 'resources/unsubscribe', params: {uri: 'a:'}}]);
});

test('drops the response to an unsubscription', async t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:']});
	settle(pair);
	takeReceived(pair.client);
	close(pair, 'L');
	settle(pair);
	t.deepEqual(pair.client.received, []);
	t.false((await pair.entries()).some(({event}) => event === 'rpc.orphan_response'));
});

test('sends nothing on a closed stream, and does not forward the cancellation', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true});
	takeReceived(pair.client);
	close(pair, 'L');
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	t.deepEqual(pair.client.received, []);
	t.deepEqual(pair.upstream.received, []);
});

test('does not acknowledge a stream that was closed before', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:']});
	const requests = takeReceived(pair.upstream);
	close(pair, 'L');
	for (const {id} of requests) pair.upstream.send({id, result: {}});
	t.deepEqual(pair.client.received, []);
});

test('preserves the notation of a stream id', t => {
	const {client} = statelessClientPair(everything);
	const params = JSON.stringify({_meta: envelope(), notifications: {toolsListChanged: true}});
	client.sendText(
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"subscriptions/listen","params":${params}}`,
	);
	t.true(client.receivedTexts[0]?.includes(`"${SUBSCRIPTION}":9007199254740993`));
});

test('accepts the id of a closed stream again', t => {
	const pair = statelessClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true});
	close(pair, 'L');
	listen(pair, 'L', {toolsListChanged: true});
	t.deepEqual(lastOf(pair.client), acknowledged('L', {toolsListChanged: true}));
});
