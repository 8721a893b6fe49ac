import test from 'ava';
import {
	addClaim,
	claimingCodexId,
	type IdentityClaims,
	parseIdentity,
	removeClaim,
} from '../../../lib/serve/sessions/identity.js';
import {ToolError} from '../../../lib/serve/sessions/tool-error.js';

const none: IdentityClaims = new Map();

test('rejects names that are not safe path segments [H1]', t => {
	for (const good of ['arch-ctm', 'dev_1', 'A', '0x']) t.is(parseIdentity(good), good);
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
			t.throws(() => parseIdentity(bad), {instanceOf: ToolError}),
			{code: -32007},
			bad,
		);
});

test('gives an identity to one session only, ignoring case [FR-3.1]', t => {
	const claims = addClaim(none, {identity: 'Dev', codexId: 'codex:1'}, 10);
	t.is(claimingCodexId(claims, 'dev'), 'codex:1');
	const error = t.throws(() => addClaim(claims, {identity: 'DEV', codexId: 'codex:2'}, 10), {
		instanceOf: ToolError,
	});
	t.is(error?.code, -32001);
	t.like(error?.details, {codex_id: 'codex:1', conflicting_codex_id: 'codex:1', identity: 'DEV'});
	t.true(error?.message.includes('codex:1'));
});

test('rejects a claim beyond the limit [FR-3.3]', t => {
	const claims = addClaim(none, {identity: 'a', codexId: 'codex:1'}, 1);
	const error = t.throws(() => addClaim(claims, {identity: 'b', codexId: 'codex:2'}, 1), {
		instanceOf: ToolError,
	});
	t.is(error?.code, -32004);
	t.like(error?.details, {max: 1});
});

test('removes a claim only for the session that has it [FR-3.4]', t => {
	const claims = addClaim(none, {identity: 'a', codexId: 'codex:1'}, 9);
	t.is(removeClaim(claims, {identity: 'a', codexId: 'codex:2'}), claims);
	t.is(removeClaim(claims, {identity: 'a', codexId: 'codex:1'}).size, 0);
});
