import test from 'ava';
import type {JsonObject} from '../../../lib/util/json.js';
import {envelope, lastOf, type Pair} from '../../helpers/version-stages.js';
import {ask, modernClientPair, news, SUBSCRIPTION} from '../stateless-support.js';

const everything = {
	tools: {listChanged: true},
	prompts: {listChanged: true},
	resources: {listChanged: true, subscribe: true},
};

const listen = (pair: Pair, id: unknown, notifications: JsonObject): void =>
	ask(pair, id, {method: 'subscriptions/listen', params: {notifications}});

const close = ({client}: Pair, requestId: unknown): void =>
	client.send({method: 'notifications/cancelled', params: {requestId}});

/** The server grants or refuses all that it was asked and has not answered. */
function settle({upstream}: Pair, isRefused: (uri: unknown) => boolean = () => false): JsonObject[] {
	const requests = news(upstream);
	for (const {id, params} of requests)
		upstream.send(
			isRefused((params as JsonObject).uri) ? {id, error: {code: -32002, message: 'no'}} : {id, result: {}},
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

test('a stream is granted what the server offers of what is wanted', t => {
	const pair = modernClientPair({tools: {listChanged: true}, prompts: {}, resources: {listChanged: true}});
	listen(pair, 'L', {toolsListChanged: true, promptsListChanged: true, resourcesListChanged: false});
	t.deepEqual(news(pair.client), [acknowledged('L', {toolsListChanged: true})]);
	t.deepEqual(pair.upstream.received, []);
});

test('a server that cannot be subscribed to is not asked', t => {
	const pair = modernClientPair({resources: {}});
	listen(pair, 'L', {resourceSubscriptions: ['a:']});
	t.deepEqual(news(pair.client), [acknowledged('L', {})]);
	t.deepEqual(pair.upstream.received, []);
});

test('a stream stands when all its subscriptions are answered, without those that were refused', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:', 'b:', 5]});
	const [first, second, ...others] = news(pair.upstream);
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
	t.deepEqual(news(pair.client), [acknowledged('L', {resourceSubscriptions: ['a:']})]);
});

test('a stream of nothing but what is refused stands, too', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true, resourceSubscriptions: ['a:']});
	settle(pair, () => true);
	t.deepEqual(news(pair.client), [acknowledged('L', {toolsListChanged: true})]);
});

test('each notification says which stream it belongs to, and each stream hears what it was granted', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true});
	listen(pair, 7, {toolsListChanged: true, promptsListChanged: true});
	news(pair.client);
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	pair.upstream.send({method: 'notifications/prompts/list_changed', params: {_meta: {a: 1}}});
	pair.upstream.send({method: 'notifications/resources/list_changed'});
	t.deepEqual(news(pair.client), [
		{jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {_meta: {[SUBSCRIPTION]: 'L'}}},
		{jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {_meta: {[SUBSCRIPTION]: 7}}},
		{
			jsonrpc: '2.0',
			method: 'notifications/prompts/list_changed',
			params: {_meta: {a: 1, [SUBSCRIPTION]: 7}},
		},
	]);
});

test('what changes before a stream stands is not told on it', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true, resourceSubscriptions: ['a:']});
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	updated(pair, 'a:');
	t.deepEqual(pair.client.received, []);
	settle(pair);
	updated(pair, 'a:');
	t.like(news(pair.client), [
		{method: 'notifications/subscriptions/acknowledged'},
		{method: 'notifications/resources/updated', params: {uri: 'a:'}},
	]);
});

test('a client without a stream hears of no change', t => {
	const pair = modernClientPair(everything);
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	updated(pair, 'a:');
	t.deepEqual(pair.client.received, []);
});

test('an update of a uri that was refused or never wanted is not told', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:', 'b:']});
	settle(pair, uri => uri === 'b:');
	news(pair.client);
	for (const uri of ['b:', 'c:']) updated(pair, uri);
	t.deepEqual(pair.client.received, []);
});

test('two streams on one uri both hear of it, and closing one leaves the other its subscription', t => {
	const pair = modernClientPair(everything);
	for (const id of ['L', 'M']) listen(pair, id, {resourceSubscriptions: ['a:']});
	settle(pair);
	news(pair.client);
	updated(pair, 'a:');
	t.like(news(pair.client), [
		{params: {uri: 'a:', _meta: {[SUBSCRIPTION]: 'L'}}},
		{params: {uri: 'a:', _meta: {[SUBSCRIPTION]: 'M'}}},
	]);
	close(pair, 'L');
	t.deepEqual(pair.upstream.received, []);
	updated(pair, 'a:');
	t.like(news(pair.client), [{params: {_meta: {[SUBSCRIPTION]: 'M'}}}]);
	close(pair, 'M');
	t.like(news(pair.upstream), [{method: 'resources/unsubscribe', params: {uri: 'a:'}}]);
});

test('the answer to an unsubscription is for nobody', async t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:']});
	settle(pair);
	news(pair.client);
	close(pair, 'L');
	settle(pair);
	t.deepEqual(pair.client.received, []);
	t.false((await pair.entries()).some(({event}) => event === 'rpc.orphan_response'));
});

test('a stream that is closed is told of nothing, and its server not of the end', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true});
	news(pair.client);
	close(pair, 'L');
	pair.upstream.send({method: 'notifications/tools/list_changed'});
	t.deepEqual(pair.client.received, []);
	t.deepEqual(pair.upstream.received, []);
});

test('a stream that is closed before it stands is not acknowledged', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {resourceSubscriptions: ['a:']});
	const requests = news(pair.upstream);
	close(pair, 'L');
	for (const {id} of requests) pair.upstream.send({id, result: {}});
	t.deepEqual(pair.client.received, []);
});

test('a stream is named by its id as the client wrote it', t => {
	const {client} = modernClientPair(everything);
	const params = JSON.stringify({_meta: envelope(), notifications: {toolsListChanged: true}});
	client.sendText(
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"subscriptions/listen","params":${params}}`,
	);
	t.true(client.receivedTexts[0]?.includes(`"${SUBSCRIPTION}":9007199254740993`));
});

test('a stream that is opened again under an id that was given up is named by it', t => {
	const pair = modernClientPair(everything);
	listen(pair, 'L', {toolsListChanged: true});
	close(pair, 'L');
	listen(pair, 'L', {toolsListChanged: true});
	t.deepEqual(lastOf(pair.client), acknowledged('L', {toolsListChanged: true}));
});
