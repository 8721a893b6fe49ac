import test from 'ava';
import {caching, newCache, tool} from './cache-tools-support.js';

const [echo, add] = [tool('echo'), tool('add')];

test('what is cached for one credential is not given to another: each has a store of its own [C11]', t => {
	const [alice, bob] = [caching({cache: newCache().cache}), caching({cache: newCache().cache})];
	alice.give({tools: [tool('secret')]});
	bob.ask(1);
	t.is(bob.answer(1), undefined);
	bob.give({tools: [echo]});
	t.like(bob.answer(1), {result: {tools: [{name: 'echo'}]}});
	t.is(bob.told(), 1);
});

test('conversations that share a store ask once, and each client is told', t => {
	const {cache} = newCache();
	const [one, two] = [caching({cache}), caching({cache})];
	t.is(two.lists().length, 0);
	two.ask(1);
	one.give({tools: [echo]});
	t.like(two.answer(1), {result: {tools: [{name: 'echo'}]}});
	t.deepEqual([one.told(), two.told()], [1, 1]);
	const three = caching({cache});
	t.is(three.lists().length, 0);
	t.is(three.told(), 1);
	three.ask(1);
	t.like(three.answer(1), {result: {tools: [{name: 'echo'}]}});
	t.is(cache.toolCount, 1);
	t.deepEqual(cache.counts, {hits: 2, misses: 0});
});

test('a change that one of them hears of is told to all, once', t => {
	const {cache} = newCache();
	const [one, two] = [caching({cache}), caching({cache})];
	one.give({tools: [echo]});
	two.change();
	one.change();
	t.deepEqual([one.lists().length, two.lists().length], [1, 1]);
	two.give({tools: [tool('between')]});
	one.give({tools: [echo, add]});
	t.deepEqual([one.told(), two.told()], [2, 2]);
	one.ask(1);
	t.like(one.answer(1), {result: {tools: [{name: 'echo'}, {name: 'add'}]}});
});

test('when the one that asks is gone, another asks for whoever waits', t => {
	const {cache} = newCache();
	const [one, two] = [caching({cache}), caching({cache})];
	two.ask(1);
	one.upstream.end();
	t.is(two.lists().length, 1);
	two.give({tools: [echo]});
	t.like(two.answer(1), {result: {tools: [{name: 'echo'}]}});
});

test('when nobody is left who would hear of a change, the next one asks anew', t => {
	const {cache} = newCache();
	const one = caching({cache});
	one.give({tools: [echo]});
	one.link.unsubscribe();
	const two = caching({cache});
	two.ask(1);
	t.is(two.answer(1), undefined);
	two.give({tools: [add]});
	t.like(two.answer(1), {result: {tools: [{name: 'add'}]}});
	t.is(two.told(), 1);
});

test('one that has left is told nothing any more', t => {
	const {cache} = newCache();
	const [one, two] = [caching({cache}), caching({cache})];
	one.give({tools: [echo]});
	two.client.end();
	const before = two.client.received.length;
	one.change();
	one.give({tools: [add]});
	t.is(two.client.received.length, before);
	t.is(one.told(), 2);
});

test('clients of different versions share a list, and each gets it in its own [C11]', t => {
	const {cache} = newCache();
	const [old, young] = [caching({cache, client: '2025-03-26'}), caching({cache, client: '2025-11-25'})];
	old.give({tools: [tool('echo', {title: 'Echo'})]});
	for (const {ask} of [old, young]) ask(1);
	t.like(old.answer(1), {result: {tools: [{name: 'echo', annotations: {title: 'Echo'}}]}});
	t.deepEqual(young.answer(1)?.result, {tools: [tool('echo', {title: 'Echo'})]});
	t.is(young.lists().length, 0);
});

test('a list that the server gave in one version is not given to those who speak another with it [C11]', t => {
	const {cache} = newCache();
	const [one, two] = [caching({cache, server: '2025-11-25'}), caching({cache, server: '2024-11-05'})];
	one.give({tools: [echo]});
	two.ask(1);
	t.is(two.answer(1), undefined);
	two.give({tools: [add]});
	t.like(two.answer(1), {result: {tools: [{name: 'add'}]}});
});
