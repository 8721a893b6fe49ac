import test from 'ava';
import fc from 'fast-check';
import {canonicalId} from '../../lib/wire/id.js';
import {numberText, stringText} from './arbitraries.js';

/** The id as a peer returns it after parsing and serializing it. */
const returned = (id: string): string => JSON.stringify(JSON.parse(id));

test('maps an id and its spelling by a peer to the same key [A8]', t => {
	fc.assert(
		fc.property(fc.oneof(numberText, stringText), id => {
			t.is(canonicalId(returned(id)), canonicalId(id));
		}),
		{numRuns: 3000},
	);
});

test('maps different ids to different keys [A8]', t => {
	const id = fc.oneof(
		fc.integer().map(String),
		fc.string({unit: 'binary'}).map(text => JSON.stringify(text)),
	);
	fc.assert(
		fc.property(id, id, (one, other) => (canonicalId(one) === canonicalId(other)) === (one === other)),
		{numRuns: 2000},
	);
	t.pass();
});

for (const [one, other] of [
	['1', '"1"'],
	['1.0', '"1.0"'],
	['0', '""'],
	['1', '10'],
	['1', '-1'],
	['"a"', '"A"'],
	['"1"', '"1.0"'],
	['123456789012345', '123456789012346'],
])
	test(`distinguishes ${one} and ${other} [A8]`, t => {
		t.not(canonicalId(one ?? ''), canonicalId(other ?? ''));
	});

for (const [one, other] of [
	['1', '1.0'],
	['1000', '1e3'],
	['1000', '1E+3'],
	['0', '-0'],
	['9007199254740993', '9007199254740992'],
	['12345678901234567890', '12345678901234567000'],
	['"a"', '"\\u0061"'],
	['"/"', '"\\/"'],
	['"é"', '"\\u00E9"'],
	['"\\uD800"', '"\\ud800"'],
])
	test(`treats ${one} and ${other} as the same id [A8]`, t => {
		t.is(canonicalId(one ?? ''), canonicalId(other ?? ''));
	});
