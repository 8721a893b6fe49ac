import test from 'ava';
import fc from 'fast-check';
import {MultiSecretSealer, Sealer} from '../../../lib/gateway/cluster/sealer.js';
import {type SessionIdPayload, SessionIds} from '../../../lib/gateway/cluster/session-ids.js';

const text = fc.string({unit: 'binary', maxLength: 300});
const secret = fc.string({minLength: 16, maxLength: 40});
const seal = new Sealer(['a secret of some length'], 'test');

test('what is sealed opens for what it is bound to, and for nothing else [C7]', t => {
	fc.assert(
		fc.property(text, text, text, (said, bound, other) => {
			const sealed = seal.seal(said, bound);
			t.is(seal.unseal(sealed, bound), said);
			t.is(seal.unseal(sealed, other), other === bound ? said : undefined);
		}),
	);
});

test('with any bit of it flipped, it does not open, and nothing is thrown [C7]', t => {
	const sealed = seal.seal(JSON.stringify({id: 'a'}), 'service');
	for (let at = 0; at < sealed.length; at++)
		for (let bit = 0; bit < 8; bit++) {
			const bytes = Buffer.from(sealed, 'latin1');
			bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
			t.is(seal.unseal(bytes.toString('latin1'), 'service'), undefined);
		}
});

test('with anything cut off, put in or put at its end, it does not open [C7]', t => {
	fc.assert(
		fc.property(text, fc.nat(), fc.string({minLength: 1, maxLength: 5}), (said, nat, more) => {
			const sealed = seal.seal(said, 'x');
			const at = nat % sealed.length;
			t.is(seal.unseal(sealed.slice(0, at), 'x'), undefined);
			t.is(seal.unseal(sealed.slice(0, at) + more + sealed.slice(at), 'x'), undefined);
			t.is(seal.unseal(sealed + more, 'x'), undefined);
		}),
	);
});

test('no text at all that bridge has not sealed opens [C7]', t => {
	fc.assert(
		fc.property(
			fc.oneof(
				text,
				fc.base64String(),
				text.map(any => `b1.${any}`),
			),
			any => t.is(seal.unseal(any, ''), undefined),
		),
	);
});

test('the first secret seals, those before it open, and others do not [M2]', t => {
	fc.assert(
		fc.property(fc.uniqueArray(secret, {minLength: 3, maxLength: 3}), text, ([now, before, other], said) => {
			const sealed = new Sealer([before ?? ''], 'test').seal(said, '');
			t.is(new Sealer([now ?? '', before ?? ''], 'test').unseal(sealed, ''), said);
			t.is(new Sealer([now ?? '', other ?? ''], 'test').unseal(sealed, ''), undefined);
			t.is(new Sealer([before ?? ''], 'something else').unseal(sealed, ''), undefined);
			const next = new Sealer([now ?? '', before ?? ''], 'test').seal(said, '');
			t.is(new Sealer([before ?? ''], 'test').unseal(next, ''), undefined);
		}),
		{numRuns: 30},
	);
});

const holder = {service: 'files', principal: '["Bearer a",null]'};
const named: SessionIdPayload = {
	id: 'abc',
	place: {instance: 'i', address: 'http://bridge-1:7411/', term: 0},
};

test('an id is read by whoever has the secret, for its service and its caller alone [M1]', t => {
	const id = new SessionIds(['secret']).create(named, holder) ?? '';
	const elsewhere = new SessionIds(['secret']);
	t.deepEqual(elsewhere.parse(id, holder), named);
	// Once it was read, it is known; but not to anybody else.
	t.deepEqual(elsewhere.parse(id, holder), named);
	t.is(elsewhere.parse(id, {...holder, service: 'other'}), undefined);
	t.is(elsewhere.parse(id, {...holder, principal: '["Bearer b",null]'}), undefined);
	t.is(new SessionIds(['another']).parse(id, holder), undefined);
	t.true(id.length < 300);
});

test('an id is good for a week, by clocks that are up to five minutes apart [L5]', t => {
	const WEEK_MS = 7 * 24 * 3600 * 1000;
	let now = 1e12;
	const ids = new SessionIds(['secret'], () => now);
	const id = ids.create(named, holder) ?? '';
	now += WEEK_MS + 4 * 60_000;
	t.deepEqual(ids.parse(id, holder), named);
	now += 2 * 60_000;
	t.is(ids.parse(id, holder), undefined);
	t.is(new SessionIds(['secret'], () => now).parse(id, holder), undefined);
});

test('an id that would be too long for a header is none', t => {
	const place = {instance: 'x'.repeat(4000), address: undefined, term: 0};
	t.is(new SessionIds(['secret']).create({id: 'a', place}, holder), undefined);
});

test('what is sealed for all opens with any secret that both have, and no part of it for anybody else [M2]', t => {
	const text = new MultiSecretSealer(['new', 'old'], 'test').seal('said', 'bound');
	for (const secrets of [['old'], ['new'], ['other', 'old'], ['old', 'new']])
		t.is(new MultiSecretSealer(secrets, 'test').unseal(text, 'bound'), 'said');
	t.is(new MultiSecretSealer(['other'], 'test').unseal(text, 'bound'), undefined);
	t.is(new MultiSecretSealer(['old'], 'test').unseal(text, 'elsewhere'), undefined);
	t.is(new MultiSecretSealer(['old'], 'test').unseal(`,${text}`, 'bound'), 'said');
	// Who puts more into it than there can be secrets does not have it looked at.
	t.is(new MultiSecretSealer(['old'], 'test').unseal(`,,,,${text}`, 'bound'), undefined);
});
