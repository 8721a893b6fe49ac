import test from 'ava';
import fc from 'fast-check';
import {isOneLine, toOneLine} from '../../lib/wire/one-line.js';
import {jsonText, space} from './arbitraries.js';

test('a message of one line is that line', t => {
	t.true(isOneLine(Buffer.from('{"a":1}')));
	t.is(String(toOneLine(Buffer.from('{"a":1}'))), '{"a":1}\n');
});

test('any JSON becomes one line of the same value', t => {
	fc.assert(
		fc.property(jsonText(space), text => {
			const line = toOneLine(Buffer.from(`{"v":${text}}`));
			t.true(isOneLine(line.subarray(0, -1)));
			t.deepEqual(JSON.parse(String(line)), JSON.parse(`{"v":${text}}`));
		}),
	);
});

test('what is no JSON keeps its line breaks', t => {
	t.is(String(toOneLine(Buffer.from('{"a\n":1}'))), '{"a\n":1}\n');
	t.false(isOneLine(Buffer.from('a\rb')));
});
