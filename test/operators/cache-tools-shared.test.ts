import test from 'ava';
import {connect, newCache, tool} from './cache-tools-support.js';

const [echo, add] = [tool('echo'), tool('add')];

test('does not share lists between separate caches, one per credential [C11]', t => {
	const [alice, bob] = [connect({cache: newCache().cache}), connect({cache: newCache().cache})];
	alice.respond({tools: [tool('secret')]});
	bob.request(1);
	t.is(bob.responseTo(1), undefined);
	bob.respond({tools: [echo]});
	t.like(bob.responseTo(1), {result: {tools: [{name: 'echo'}]}});
	t.is(bob.notifications(), 1);
});

test('fetches once for all conversations of a cache, and notifies each client', t => {
	const {cache} = newCache();
	const [one, two] = [connect({cache}), connect({cache})];
	t.is(two.listRequests().length, 0);
	two.request(1);
	one.respond({tools: [echo]});
	t.like(two.responseTo(1), {result: {tools: [{name: 'echo'}]}});
	t.deepEqual([one.notifications(), two.notifications()], [1, 1]);
	const three = connect({cache});
	t.is(three.listRequests().length, 0);
	t.is(three.notifications(), 1);
	three.request(1);
	t.like(three.responseTo(1), {result: {tools: [{name: 'echo'}]}});
	t.is(cache.toolCount, 1);
	t.deepEqual(cache.counts, {hits: 2, misses: 0});
});

test('notifies all clients once of a change that one conversation receives', t => {
	const {cache} = newCache();
	const [one, two] = [connect({cache}), connect({cache})];
	one.respond({tools: [echo]});
	two.notifyChange();
	one.notifyChange();
	t.deepEqual([one.listRequests().length, two.listRequests().length], [1, 1]);
	two.respond({tools: [tool('between')]});
	one.respond({tools: [echo, add]});
	t.deepEqual([one.notifications(), two.notifications()], [2, 2]);
	one.request(1);
	t.like(one.responseTo(1), {result: {tools: [{name: 'echo'}, {name: 'add'}]}});
});

test('repeats a fetch through another conversation when the fetching one ends', t => {
	const {cache} = newCache();
	const [one, two] = [connect({cache}), connect({cache})];
	two.request(1);
	one.upstream.end();
	t.is(two.listRequests().length, 1);
	two.respond({tools: [echo]});
	t.like(two.responseTo(1), {result: {tools: [{name: 'echo'}]}});
});

test('fetches again for the first conversation after all others have left', t => {
	const {cache} = newCache();
	const one = connect({cache});
	one.respond({tools: [echo]});
	one.link.unsubscribe();
	const two = connect({cache});
	two.request(1);
	t.is(two.responseTo(1), undefined);
	two.respond({tools: [add]});
	t.like(two.responseTo(1), {result: {tools: [{name: 'add'}]}});
	t.is(two.notifications(), 1);
});

test('does not notify a conversation that has left', t => {
	const {cache} = newCache();
	const [one, two] = [connect({cache}), connect({cache})];
	one.respond({tools: [echo]});
	two.client.end();
	const before = two.client.received.length;
	one.notifyChange();
	one.respond({tools: [add]});
	t.is(two.client.received.length, before);
	t.is(one.notifications(), 2);
});

test('shares a list between client versions, and translates it for each [C11]', t => {
	const {cache} = newCache();
	const [older, newer] = [connect({cache, client: '2025-03-26'}), connect({cache, client: '2025-11-25'})];
	older.respond({tools: [tool('echo', {title: 'Echo'})]});
	for (const {request} of [older, newer]) request(1);
	t.like(older.responseTo(1), {result: {tools: [{name: 'echo', annotations: {title: 'Echo'}}]}});
	t.deepEqual(newer.responseTo(1)?.result, {tools: [tool('echo', {title: 'Echo'})]});
	t.is(newer.listRequests().length, 0);
});

test('keeps separate lists for each upstream version [C11]', t => {
	const {cache} = newCache();
	const [one, two] = [connect({cache, server: '2025-11-25'}), connect({cache, server: '2024-11-05'})];
	one.respond({tools: [echo]});
	two.request(1);
	t.is(two.responseTo(1), undefined);
	two.respond({tools: [add]});
	t.like(two.responseTo(1), {result: {tools: [{name: 'add'}]}});
});
