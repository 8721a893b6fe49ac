import test from 'ava';
import fc from 'fast-check';
import {MultiSecretSealer, Sealer} from '../../../lib/gateway/cluster/sealer.js';
import {type SessionIdPayload, SessionIds} from '../../../lib/gateway/cluster/session-ids.js';

const text = fc.string({unit: 'binary', maxLength: 300});
const secret = fc.string({minLength: 16, maxLength: 40});
const sealer = new Sealer(['a secret of some length'], 'test');

test('opens a sealed text only for the context that it is bound to [C7]', t => {
	fc.assert(
		fc.property(text, text, text, (plain, context, other) => {
			const sealed = sealer.seal(plain, context);
			t.is(sealer.unseal(sealed, context), plain);
			t.is(sealer.unseal(sealed, other), other === context ? plain : undefined);
		}),
	);
});

test('does not open a sealed text with any bit flipped, and does not throw [C7]', t => {
	const sealed = sealer.seal(JSON.stringify({id: 'a'}), 'service');
	for (let at = 0; at < sealed.length; at++)
		for (let bit = 0; bit < 8; bit++) {
			const bytes = Buffer.from(sealed, 'latin1');
			bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
			t.is(sealer.unseal(bytes.toString('latin1'), 'service'), undefined);
		}
});

test('does not open a sealed text that is truncated or has characters added [C7]', t => {
	fc.assert(
		fc.property(text, fc.nat(), fc.string({minLength: 1, maxLength: 5}), (plain, nat, more) => {
			const sealed = sealer.seal(plain, 'x');
			const at = nat % sealed.length;
			t.is(sealer.unseal(sealed.slice(0, at), 'x'), undefined);
			t.is(sealer.unseal(sealed.slice(0, at) + more + sealed.slice(at), 'x'), undefined);
			t.is(sealer.unseal(sealed + more, 'x'), undefined);
		}),
	);
});

test('does not open any text that bridge has not sealed [C7]', t => {
	fc.assert(
		fc.property(
			fc.oneof(
				text,
				fc.base64String(),
				text.map(any => `b1.${any}`),
			),
			any => t.is(sealer.unseal(any, ''), undefined),
		),
	);
});

test('seals with the first secret, and opens with the first and earlier ones only [M2]', t => {
	fc.assert(
		fc.property(
			fc.uniqueArray(secret, {minLength: 3, maxLength: 3}),
			text,
			([current, earlier, other], plain) => {
				const sealed = new Sealer([earlier ?? ''], 'test').seal(plain, '');
				t.is(new Sealer([current ?? '', earlier ?? ''], 'test').unseal(sealed, ''), plain);
				t.is(new Sealer([current ?? '', other ?? ''], 'test').unseal(sealed, ''), undefined);
				t.is(new Sealer([earlier ?? ''], 'another purpose').unseal(sealed, ''), undefined);
				const next = new Sealer([current ?? '', earlier ?? ''], 'test').seal(plain, '');
				t.is(new Sealer([earlier ?? ''], 'test').unseal(next, ''), undefined);
			},
		),
		{numRuns: 30},
	);
});

const servicePrincipal = {service: 'files', principal: '["Bearer a",null]'};
const payload: SessionIdPayload = {
	id: 'abc',
	place: {instance: 'i', address: 'http://bridge-1:7411/', term: 0},
};

test('parses a session id only with the secret, and for its service and principal [M1]', t => {
	const id = new SessionIds(['secret']).create(payload, servicePrincipal) ?? '';
	const others = new SessionIds(['secret']);
	t.deepEqual(others.parse(id, servicePrincipal), payload);
	// The cached result is used for the same service and principal only.
	t.deepEqual(others.parse(id, servicePrincipal), payload);
	t.is(others.parse(id, {...servicePrincipal, service: 'other'}), undefined);
	t.is(others.parse(id, {...servicePrincipal, principal: '["Bearer b",null]'}), undefined);
	t.is(new SessionIds(['another']).parse(id, servicePrincipal), undefined);
	t.true(id.length < 300);
});

test('a session id is valid for a week, with clocks that differ by up to five minutes [L5]', t => {
	const WEEK_MS = 7 * 24 * 3600 * 1000;
	let now = 1e12;
	const ids = new SessionIds(['secret'], () => now);
	const id = ids.create(payload, servicePrincipal) ?? '';
	now += WEEK_MS + 4 * 60_000;
	t.deepEqual(ids.parse(id, servicePrincipal), payload);
	now += 2 * 60_000;
	t.is(ids.parse(id, servicePrincipal), undefined);
	t.is(new SessionIds(['secret'], () => now).parse(id, servicePrincipal), undefined);
});

test('creates no session id that is too long for a header', t => {
	const place = {instance: 'x'.repeat(4000), address: undefined, term: 0};
	t.is(new SessionIds(['secret']).create({id: 'a', place}, servicePrincipal), undefined);
});

test('a text sealed with several secrets opens with any of them, and with no other [M2]', t => {
	const text = new MultiSecretSealer(['new', 'old'], 'test').seal('plain', 'context');
	for (const secrets of [['old'], ['new'], ['other', 'old'], ['old', 'new']])
		t.is(new MultiSecretSealer(secrets, 'test').unseal(text, 'context'), 'plain');
	t.is(new MultiSecretSealer(['other'], 'test').unseal(text, 'context'), undefined);
	t.is(new MultiSecretSealer(['old'], 'test').unseal(text, 'another context'), undefined);
	t.is(new MultiSecretSealer(['old'], 'test').unseal(`,${text}`, 'context'), 'plain');
	// Parts beyond the maximum number of secrets are ignored.
	t.is(new MultiSecretSealer(['old'], 'test').unseal(`,,,,${text}`, 'context'), undefined);
});
