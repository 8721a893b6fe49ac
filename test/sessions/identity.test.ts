import test from 'ava';
import {type Claims, checkedIdentity, claimed, holderOf, released} from '../../lib/sessions/identity.js';
import {Refusal} from '../../lib/sessions/refusal.js';

const none: Claims = new Map();

test('H1 names that are no part of a path are refused', t => {
	for (const good of ['arch-ctm', 'dev_1', 'A', '0x']) t.is(checkedIdentity(good), good);
	for (const bad of [
		'',
		'.',
		'..',
		'a/b',
		'a\\b',
		'a\0b',
		'a.b',
		'-a',
		'CON',
		'nul',
		'a b',
		'é',
		'a\u202eb',
		'a'.repeat(300),
	])
		t.like(
			t.throws(() => checkedIdentity(bad), {instanceOf: Refusal}),
			{code: -32007},
			bad,
		);
});

test('FR-3.1 an identity has one holder, whatever its case', t => {
	const claims = claimed(none, {identity: 'Dev', codexId: 'codex:1'}, 10);
	t.is(holderOf(claims, 'dev'), 'codex:1');
	const refusal = t.throws(() => claimed(claims, {identity: 'DEV', codexId: 'codex:2'}, 10), {
		instanceOf: Refusal,
	});
	t.is(refusal?.code, -32001);
	t.like(refusal?.facts, {codex_id: 'codex:1', conflicting_codex_id: 'codex:1', identity: 'DEV'});
	t.true(refusal?.message.includes('codex:1'));
});

test('FR-3.3 there are no more than so many', t => {
	const claims = claimed(none, {identity: 'a', codexId: 'codex:1'}, 1);
	const refusal = t.throws(() => claimed(claims, {identity: 'b', codexId: 'codex:2'}, 1), {
		instanceOf: Refusal,
	});
	t.is(refusal?.code, -32004);
	t.like(refusal?.facts, {max: 1});
});

test('FR-3.4 only its holder gives it back', t => {
	const claims = claimed(none, {identity: 'a', codexId: 'codex:1'}, 9);
	t.is(released(claims, {identity: 'a', codexId: 'codex:2'}), claims);
	t.is(released(claims, {identity: 'a', codexId: 'codex:1'}).size, 0);
});
