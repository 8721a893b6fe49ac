import test from 'ava';
import {ProgressTokens} from '../../../lib/upstream/share/progress-tokens.js';

test('gives each token a unique name and finds its owner', t => {
	const tokens = new ProgressTokens<string>();
	const [a, b, c] = [tokens.register('ann', 0), tokens.register('bob', 0), tokens.register('ann', 'x')];
	t.is(new Set([a, b, c]).size, 3);
	t.deepEqual(tokens.ownerOf(a), {owner: 'ann', token: 0});
	t.deepEqual(tokens.ownerOf(b), {owner: 'bob', token: 0});
	t.deepEqual(tokens.ownerOf(c), {owner: 'ann', token: 'x'});
});

test('has no owner for released and unknown tokens', t => {
	const tokens = new ProgressTokens<string>();
	const released = tokens.register('ann', 1);
	tokens.release(released);
	for (const token of [released, 1, undefined]) t.is(tokens.ownerOf(token), undefined);
});

test('evicts the oldest token over the limit', t => {
	const tokens = new ProgressTokens<number>();
	const first = tokens.register(0, 0);
	let last = first;
	for (let at = 1; at <= 65_536; at++) last = tokens.register(at, 0);
	t.is(tokens.ownerOf(first), undefined);
	t.is(tokens.ownerOf(last)?.owner, 65_536);
});
