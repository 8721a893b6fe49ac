import test from 'ava';
import fc from 'fast-check';
import {shortKey} from '../../lib/util/short-key.js';

test('keeps short texts and limits keys to 1024 characters [SEC-D5]', t => {
	fc.assert(
		fc.property(fc.string({maxLength: 3000}), fc.string({maxLength: 3000}), (one, other) => {
			t.true(shortKey(one).length <= 1024);
			if (one.length <= 1024) t.is(shortKey(one), one);
			t.is(shortKey(one) === shortKey(other), one === other);
		}),
	);
	t.not(shortKey('x'.repeat(2000)), shortKey('x'.repeat(2001)));
});
