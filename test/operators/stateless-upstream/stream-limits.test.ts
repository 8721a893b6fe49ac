import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf, type Pair} from '../../helpers/version-stages.js';
import {ask, modernClientPair, modernServerPair, news, SUBSCRIPTION} from '../stateless-support.js';

/* What is kept of the resources that a client is notified of. */

const uri = (at: number, length: number): string => `a:${at}`.padEnd(length, 'x');

/** The server grants what the last stream asks for. */
function acknowledge({upstream}: Pair): void {
	const {id, params} = lastOf(upstream);
	const {notifications} = objectOf(params);
	upstream.send({
		method: 'notifications/subscriptions/acknowledged',
		params: {_meta: {[SUBSCRIPTION]: id}, notifications},
	});
}

test('a subscription is rejected when the URIs of all are too long together [SEC-D11]', t => {
	const pair = modernServerPair({serverCapabilities: {resources: {subscribe: true}}});
	const subscribe = (id: number): void =>
		pair.client.send({id, method: 'resources/subscribe', params: {uri: uri(id, 8000)}});
	for (let id = 1; id <= 131; id++) subscribe(id);
	acknowledge(pair);
	acknowledge(pair);
	t.true(news(pair.client).every(({result}) => result !== undefined));
	news(pair.upstream);
	subscribe(132);
	t.like(news(pair.client), [{id: 132, error: {code: -32_602}}]);
	t.deepEqual(news(pair.upstream), []);
	pair.client.send({id: 133, method: 'resources/unsubscribe', params: {uri: uri(1, 8000)}});
	acknowledge(pair);
	news(pair.client);
	subscribe(134);
	acknowledge(pair);
	t.like(news(pair.client), [{id: 134, result: {}}]);
});

const listen = (pair: Pair, id: unknown, notifications: object): void =>
	ask(pair, id, {method: 'subscriptions/listen', params: {notifications}});

test('requests that wait for a subscription are limited, and settled when it is removed [SEC-D5]', t => {
	const pair = modernServerPair({serverCapabilities: {resources: {subscribe: true}}});
	const send = (id: number, method: string): void => pair.client.send({id, method, params: {uri: 'a:'}});
	for (let id = 1; id <= 101; id++) send(id, 'resources/subscribe');
	t.like(news(pair.client), [{id: 101, error: {code: -32_603}}]);
	send(102, 'resources/unsubscribe');
	const settled = news(pair.client);
	t.is(settled.length, 101);
	t.true(settled.slice(0, 100).every(({error}) => error !== undefined));
	t.like(settled.at(-1), {id: 102, result: {}});
});

test('a stream is rejected when the URIs of all streams are too long together [SEC-D5]', t => {
	const pair = modernClientPair({resources: {subscribe: true}});
	const open = (id: number): void => listen(pair, id, {resourceSubscriptions: [uri(id, 60_000)]});
	for (let id = 1; id <= 17; id++) open(id);
	t.is(news(pair.upstream).length, 17);
	t.deepEqual(news(pair.client), []);
	open(18);
	t.like(news(pair.client), [{id: 18, error: {code: -32_602}}]);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	news(pair.upstream);
	open(19);
	t.like(news(pair.upstream), [{method: 'resources/subscribe'}]);
});

test('a stream is rejected when all streams have too many resources [SEC-D5]', t => {
	const pair = modernClientPair({resources: {subscribe: true}});
	const resourceSubscriptions = Array.from({length: 1000}, (_, at) => uri(at, 8));
	for (let id = 1; id <= 11; id++) listen(pair, id, {resourceSubscriptions});
	t.like(news(pair.client), [{id: 11, error: {code: -32_602}}]);
	listen(pair, 12, {toolsListChanged: true});
	t.like(news(pair.client), [{method: 'notifications/subscriptions/acknowledged'}]);
});

test('of a long notification each stream gets the members that the protocol defines [SEC-D5]', t => {
	const pair = modernClientPair({resources: {subscribe: true}});
	for (const id of [1, 2]) listen(pair, id, {resourceSubscriptions: ['a:']});
	for (const {id} of news(pair.upstream)) pair.upstream.send({id, result: {}});
	news(pair.client);
	const updated = (more: object): void =>
		pair.upstream.send({method: 'notifications/resources/updated', params: {uri: 'a:', ...more}});
	updated({extra: 'x'.repeat(100_000)});
	t.deepEqual(
		news(pair.client).map(({params}) => params),
		[1, 2].map(id => ({uri: 'a:', _meta: {[SUBSCRIPTION]: id}})),
	);
	updated({extra: 'x', _meta: {mine: 1}});
	t.deepEqual(
		news(pair.client).map(({params}) => params),
		[1, 2].map(id => ({uri: 'a:', extra: 'x', _meta: {mine: 1, [SUBSCRIPTION]: id}})),
	);
});
