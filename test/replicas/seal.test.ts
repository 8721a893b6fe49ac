import test from 'ava';
import fc from 'fast-check';
import {CommonSeal, Seal} from '../../lib/replicas/seal.js';
import {type Named, SessionIds} from '../../lib/replicas/session-ids.js';

const text = fc.string({unit: 'binary', maxLength: 300});
const secret = fc.string({minLength: 16, maxLength: 40});
const seal = new Seal(['a secret of some length'], 'test');

test('C7 what is sealed opens for what it is bound to, and for nothing else', t => {
	fc.assert(
		fc.property(text, text, text, (said, bound, other) => {
			const sealed = seal.close(said, bound);
			t.is(seal.open(sealed, bound), said);
			t.is(seal.open(sealed, other), other === bound ? said : undefined);
		}),
	);
});

test('C7 with any bit of it flipped, it does not open, and nothing is thrown', t => {
	const sealed = seal.close(JSON.stringify({id: 'a'}), 'service');
	for (let at = 0; at < sealed.length; at++)
		for (let bit = 0; bit < 8; bit++) {
			const bytes = Buffer.from(sealed, 'latin1');
			bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
			t.is(seal.open(bytes.toString('latin1'), 'service'), undefined);
		}
});

test('C7 with anything cut off, put in or put at its end, it does not open', t => {
	fc.assert(
		fc.property(text, fc.nat(), fc.string({minLength: 1, maxLength: 5}), (said, nat, more) => {
			const sealed = seal.close(said, 'x');
			const at = nat % sealed.length;
			t.is(seal.open(sealed.slice(0, at), 'x'), undefined);
			t.is(seal.open(sealed.slice(0, at) + more + sealed.slice(at), 'x'), undefined);
			t.is(seal.open(sealed + more, 'x'), undefined);
		}),
	);
});

test('C7 no text at all that bridge has not sealed opens', t => {
	fc.assert(
		fc.property(
			fc.oneof(
				text,
				fc.base64String(),
				text.map(any => `b1.${any}`),
			),
			any => t.is(seal.open(any, ''), undefined),
		),
	);
});

test('M2 the first secret seals, those before it open, and others do not', t => {
	fc.assert(
		fc.property(fc.uniqueArray(secret, {minLength: 3, maxLength: 3}), text, ([now, before, other], said) => {
			const sealed = new Seal([before ?? ''], 'test').close(said, '');
			t.is(new Seal([now ?? '', before ?? ''], 'test').open(sealed, ''), said);
			t.is(new Seal([now ?? '', other ?? ''], 'test').open(sealed, ''), undefined);
			t.is(new Seal([before ?? ''], 'something else').open(sealed, ''), undefined);
			const next = new Seal([now ?? '', before ?? ''], 'test').close(said, '');
			t.is(new Seal([before ?? ''], 'test').open(next, ''), undefined);
		}),
		{numRuns: 30},
	);
});

const holder = {service: 'files', principal: '["Bearer a",null]'};
const named: Named = {id: 'abc', place: {instance: 'i', address: 'http://bridge-1:7411/', term: 0}};

test('M1 an id is read by whoever has the secret, for its service and its caller alone', t => {
	const id = new SessionIds(['secret']).make(named, holder) ?? '';
	const elsewhere = new SessionIds(['secret']);
	t.deepEqual(elsewhere.read(id, holder), named);
	// Once it was read, it is known; but not to anybody else.
	t.deepEqual(elsewhere.read(id, holder), named);
	t.is(elsewhere.read(id, {...holder, service: 'other'}), undefined);
	t.is(elsewhere.read(id, {...holder, principal: '["Bearer b",null]'}), undefined);
	t.is(new SessionIds(['another']).read(id, holder), undefined);
	t.true(id.length < 300);
});

test('L5 an id is good for a week, by clocks that are up to five minutes apart', t => {
	const WEEK_MS = 7 * 24 * 3600 * 1000;
	let now = 1e12;
	const ids = new SessionIds(['secret'], () => now);
	const id = ids.make(named, holder) ?? '';
	now += WEEK_MS + 4 * 60_000;
	t.deepEqual(ids.read(id, holder), named);
	now += 2 * 60_000;
	t.is(ids.read(id, holder), undefined);
	t.is(new SessionIds(['secret'], () => now).read(id, holder), undefined);
});

test('an id that would be too long for a header is none', t => {
	const place = {instance: 'x'.repeat(4000), address: undefined, term: 0};
	t.is(new SessionIds(['secret']).make({id: 'a', place}, holder), undefined);
});

test('M2 what is sealed for all opens with any secret that both have, and no part of it for anybody else', t => {
	const text = new CommonSeal(['new', 'old'], 'test').close('said', 'bound');
	for (const secrets of [['old'], ['new'], ['other', 'old'], ['old', 'new']])
		t.is(new CommonSeal(secrets, 'test').open(text, 'bound'), 'said');
	t.is(new CommonSeal(['other'], 'test').open(text, 'bound'), undefined);
	t.is(new CommonSeal(['old'], 'test').open(text, 'elsewhere'), undefined);
	t.is(new CommonSeal(['old'], 'test').open(`,${text}`, 'bound'), 'said');
	// Who puts more into it than there can be secrets does not have it looked at.
	t.is(new CommonSeal(['old'], 'test').open(`,,,,${text}`, 'bound'), undefined);
});
