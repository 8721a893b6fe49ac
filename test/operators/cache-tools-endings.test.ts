import test from 'ava';
import {connect, lastOf, tool} from './cache-tools-support.js';

const echo = tool('echo');

test('drops a request that is cancelled while it is queued, without a message to the upstream', t => {
	const {respond, request, responseTo, client, receivedMethods} = connect();
	request(1);
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	respond({tools: [echo]});
	t.is(responseTo(1), undefined);
	t.false(receivedMethods().includes('notifications/cancelled'));
});

test('forwards the cancellation of a forwarded request', t => {
	const {fail, request, client, upstream} = connect();
	request(1);
	fail();
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.like(lastOf(upstream), {method: 'notifications/cancelled', params: {requestId: 1}});
});

test('frees the id of a request after a cached response, even a translated one', t => {
	const {respond, request, responseTo, upstream, client} = connect({client: '2025-03-26'});
	respond({tools: [tool('echo', {title: 'Echo'})]});
	request(1);
	t.like(responseTo(1), {result: {tools: [{annotations: {title: 'Echo'}}]}});
	client.send({id: 1, method: 'resources/list'});
	t.like(lastOf(upstream), {id: 1, method: 'resources/list'});
});

test('fails queued requests when the upstream disconnects', t => {
	const {request, responseTo, upstream} = connect();
	request(1);
	upstream.end();
	t.like(responseTo(1), {error: {code: -31005}});
});

test('responds to queued requests after the end of the client, and then ends the input of the upstream', t => {
	const {request, responseTo, respond, client, upstream} = connect();
	let isOver = false;
	(upstream.outgoing as unknown as {subscribe(observer: object): void}).subscribe({
		complete: () => {
			isOver = true;
		},
	});
	request(1);
	client.end();
	t.false(isOver);
	respond({tools: [echo], nextCursor: 'b'});
	respond({tools: []});
	t.like(responseTo(1), {result: {tools: [{name: 'echo'}]}});
	t.true(isOver);
});
