import test from 'ava';
import {caching, lastOf, tool} from './cache-tools-support.js';

const echo = tool('echo');

test('a request that is cancelled while it waits is not answered, and the server never hears of it', t => {
	const {give, ask, answer, client, receivedMethods} = caching();
	ask(1);
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	give({tools: [echo]});
	t.is(answer(1), undefined);
	t.false(receivedMethods().includes('notifications/cancelled'));
});

test('a request that was passed on is cancelled there', t => {
	const {refuse, ask, client, upstream} = caching();
	ask(1);
	refuse();
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.like(lastOf(upstream), {method: 'notifications/cancelled', params: {requestId: 1}});
});

test('the id of an answer from the cache is free again, also where the answer was translated', t => {
	const {give, ask, answer, upstream, client} = caching({client: '2025-03-26'});
	give({tools: [tool('echo', {title: 'Echo'})]});
	ask(1);
	t.like(answer(1), {result: {tools: [{annotations: {title: 'Echo'}}]}});
	client.send({id: 1, method: 'resources/list'});
	t.like(lastOf(upstream), {id: 1, method: 'resources/list'});
});

test('what waits when the server dies is answered with the reason', t => {
	const {ask, answer, upstream} = caching();
	ask(1);
	upstream.end();
	t.like(answer(1), {error: {code: -31005}});
});

test('a client that says no more still gets what it waits for, and then the server’s input ends', t => {
	const {ask, answer, give, client, upstream} = caching();
	let isOver = false;
	(upstream.outgoing as unknown as {subscribe(observer: object): void}).subscribe({
		complete: () => {
			isOver = true;
		},
	});
	ask(1);
	client.end();
	t.false(isOver);
	give({tools: [echo], nextCursor: 'b'});
	give({tools: []});
	t.like(answer(1), {result: {tools: [{name: 'echo'}]}});
	t.true(isOver);
});
