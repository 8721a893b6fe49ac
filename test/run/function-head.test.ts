import test from 'ava';
import fc from 'fast-check';
import {parseFunctionHead} from '../../lib/run/function-head.js';

/**
 * Formats a head for comparison: parameter names, `?` for optional ones, and braces for one destructured
 * object.
 */
function describeHead(code: string): string {
	const {parameters, isOneObject} = parseFunctionHead(code);
	const names = parameters.map(({name, isRequired}) => `${name}${isRequired ? '' : '?'}`).join(' ');
	return isOneObject ? `{${names}}` : names;
}

for (const [code, expected] of [
	['function find(query, limit = 10) {}', 'query limit?'],
	['async function find(query) {}', 'query'],
	['message => message', 'message'],
	['async message => message', 'message'],
	['() => 1', ''],
	['function () { [native code] }', ''],
	['(a = [1, 2], b = "x,y)", c = f(1, 2)) => a', 'a? b? c?'],
	["(a = ')', b) => a", 'a? b'],
	['(a /* one, two */, b // three, (\n) => a', 'a b'],
	['({a, b = {c: 1, d: [2]}}) => a', '{a b?}'],
	['({a: first, b: second = 2}, {signal} = {}) => a', '{a b?}'],
	['(a, {signal} = {}) => a', 'a'],
	['(a, ...rest) => a', 'a'],
	['(a = `x, (`, $b) => a', 'a? $b'],
	['name(a, b) { return a; }', 'a b'],
] as const)
	test(`parses the head of ${JSON.stringify(code)}`, t => {
		t.is(describeHead(code), expected);
	});

test('parses the head of any text without an error', t => {
	fc.assert(
		fc.property(fc.string({unit: fc.constantFrom(...'(){}[],=>"\'`/*\\\n. ab$'), maxLength: 60}), code => {
			t.true(parseFunctionHead(code).parameters.every(({name}) => /^[\w$]+$/.test(name)));
		}),
	);
});
