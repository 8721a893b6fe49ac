import test from 'ava';
import {ProgressTokens} from '../../../lib/upstream/share/progress-tokens.js';

test('each token is told under a name of its own, and finds back to who gave it', t => {
	const tokens = new ProgressTokens<string>();
	const [a, b, c] = [tokens.register('ann', 0), tokens.register('bob', 0), tokens.register('ann', 'x')];
	t.is(new Set([a, b, c]).size, 3);
	t.deepEqual(tokens.ownerOf(a), {owner: 'ann', token: 0});
	t.deepEqual(tokens.ownerOf(b), {owner: 'bob', token: 0});
	t.deepEqual(tokens.ownerOf(c), {owner: 'ann', token: 'x'});
});

test('progress that nobody waits for is nobody’s', t => {
	const tokens = new ProgressTokens<string>();
	const told = tokens.register('ann', 1);
	tokens.release(told);
	for (const token of [told, 1, undefined]) t.is(tokens.ownerOf(token), undefined);
});

test('the oldest of very many is forgotten, and the newest is not', t => {
	const tokens = new ProgressTokens<number>();
	const first = tokens.register(0, 0);
	let last = first;
	for (let at = 1; at <= 65_536; at++) last = tokens.register(at, 0);
	t.is(tokens.ownerOf(first), undefined);
	t.is(tokens.ownerOf(last)?.owner, 65_536);
});
