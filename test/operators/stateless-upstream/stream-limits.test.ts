import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {lastOf, type Pair} from '../../helpers/version-stages.js';
import {
	SUBSCRIPTION,
	sendRequest,
	statelessClientPair,
	statelessUpstreamPair,
	takeReceived,
} from '../stateless-support.js';

/* Limits on the resources that a client is notified of. */

const uri = (at: number, length: number): string => `a:${at}`.padEnd(length, 'x');

/** Acknowledges the last stream with all requested notifications. */
function acknowledge({upstream}: Pair): void {
	const {id, params} = lastOf(upstream);
	const {notifications} = objectOf(params);
	upstream.send({
		method: 'notifications/subscriptions/acknowledged',
		params: {_meta: {[SUBSCRIPTION]: id}, notifications},
	});
}

test('rejects a subscription when all URIs exceed the character limit [SEC-D11]', t => {
	const pair = statelessUpstreamPair({serverCapabilities: {resources: {subscribe: true}}});
	const subscribe = (id: number): void =>
		pair.client.send({id, method: 'resources/subscribe', params: {uri: uri(id, 8000)}});
	for (let id = 1; id <= 131; id++) subscribe(id);
	acknowledge(pair);
	acknowledge(pair);
	t.true(takeReceived(pair.client).every(({result}) => result !== undefined));
	takeReceived(pair.upstream);
	subscribe(132);
	t.like(takeReceived(pair.client), [{id: 132, error: {code: -32_602}}]);
	t.deepEqual(takeReceived(pair.upstream), []);
	pair.client.send({id: 133, method: 'resources/unsubscribe', params: {uri: uri(1, 8000)}});
	acknowledge(pair);
	takeReceived(pair.client);
	subscribe(134);
	acknowledge(pair);
	t.like(takeReceived(pair.client), [{id: 134, result: {}}]);
});

const listen = (pair: Pair, id: unknown, notifications: object): void =>
	sendRequest(pair, id, {method: 'subscriptions/listen', params: {notifications}});

test('limits the pending requests for a subscription, and fails them when it is removed [SEC-D5]', t => {
	const pair = statelessUpstreamPair({serverCapabilities: {resources: {subscribe: true}}});
	const send = (id: number, method: string): void => pair.client.send({id, method, params: {uri: 'a:'}});
	for (let id = 1; id <= 101; id++) send(id, 'resources/subscribe');
	t.like(takeReceived(pair.client), [{id: 101, error: {code: -32_603}}]);
	send(102, 'resources/unsubscribe');
	const settled = takeReceived(pair.client);
	t.is(settled.length, 101);
	t.true(settled.slice(0, 100).every(({error}) => error !== undefined));
	t.like(settled.at(-1), {id: 102, result: {}});
});

test('rejects a stream when the URIs of all streams exceed the character limit [SEC-D5]', t => {
	const pair = statelessClientPair({resources: {subscribe: true}});
	const open = (id: number): void => listen(pair, id, {resourceSubscriptions: [uri(id, 60_000)]});
	for (let id = 1; id <= 17; id++) open(id);
	t.is(takeReceived(pair.upstream).length, 17);
	t.deepEqual(takeReceived(pair.client), []);
	open(18);
	t.like(takeReceived(pair.client), [{id: 18, error: {code: -32_602}}]);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	takeReceived(pair.upstream);
	open(19);
	t.like(takeReceived(pair.upstream), [{method: 'resources/subscribe'}]);
});

test('rejects a stream when all streams have too many resources [SEC-D5]', t => {
	const pair = statelessClientPair({resources: {subscribe: true}});
	const resourceSubscriptions = Array.from({length: 1000}, (_, at) => uri(at, 8));
	for (let id = 1; id <= 11; id++) listen(pair, id, {resourceSubscriptions});
	t.like(takeReceived(pair.client), [{id: 11, error: {code: -32_602}}]);
	listen(pair, 12, {toolsListChanged: true});
	t.like(takeReceived(pair.client), [{method: 'notifications/subscriptions/acknowledged'}]);
});

test('reduces a long notification to the members of the protocol for each stream [SEC-D5]', t => {
	const pair = statelessClientPair({resources: {subscribe: true}});
	for (const id of [1, 2]) listen(pair, id, {resourceSubscriptions: ['a:']});
	for (const {id} of takeReceived(pair.upstream)) pair.upstream.send({id, result: {}});
	takeReceived(pair.client);
	const updated = (more: object): void =>
		pair.upstream.send({method: 'notifications/resources/updated', params: {uri: 'a:', ...more}});
	updated({extra: 'x'.repeat(100_000)});
	t.deepEqual(
		takeReceived(pair.client).map(({params}) => params),
		[1, 2].map(id => ({uri: 'a:', _meta: {[SUBSCRIPTION]: id}})),
	);
	updated({extra: 'x', _meta: {mine: 1}});
	t.deepEqual(
		takeReceived(pair.client).map(({params}) => params),
		[1, 2].map(id => ({uri: 'a:', extra: 'x', _meta: {mine: 1, [SUBSCRIPTION]: id}})),
	);
});
