import test from 'ava';
import fc from 'fast-check';
import {isOneLine, toOneLine} from '../../lib/wire/one-line.js';
import {jsonText, space} from './arbitraries.js';

test('appends a line feed to a message of one line', t => {
	t.true(isOneLine(Buffer.from('{"a":1}')));
	t.is(String(toOneLine(Buffer.from('{"a":1}'))), '{"a":1}\n');
});

test('converts any JSON into one line with the same value', t => {
	fc.assert(
		fc.property(jsonText(space), text => {
			const line = toOneLine(Buffer.from(`{"v":${text}}`));
			t.true(isOneLine(line.subarray(0, -1)));
			t.deepEqual(JSON.parse(String(line)), JSON.parse(`{"v":${text}}`));
		}),
	);
});

test('keeps line breaks in invalid JSON', t => {
	t.is(String(toOneLine(Buffer.from('{"a\n":1}'))), '{"a\n":1}\n');
	t.false(isOneLine(Buffer.from('a\rb')));
});
