import test from 'ava';
import fc from 'fast-check';
import {parseJsonWithComments} from '../../lib/config/json-with-comments.js';

const plain = fc
	.jsonValue({maxDepth: 4})
	// JSON.stringify writes -0 as 0.
	.map(value => JSON.parse(JSON.stringify(value)) as unknown);

test('reads all JSON as JSON.parse does', t => {
	fc.assert(
		fc.property(plain, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
			const {value: read, issues: mistakes} = parseJsonWithComments(JSON.stringify(value, undefined, indent));
			t.deepEqual(mistakes, []);
			t.deepEqual(read, value);
		}),
	);
});

test('reads no text that JSON.parse does not, unless it has comments or commas to spare', t => {
	fc.assert(
		fc.property(plain, fc.nat(), fc.constantFrom('', '}', ']', '"', ':', '{', '0', 'x'), (value, at, odd) => {
			const text = JSON.stringify(value);
			const cut = at % (text.length + 1);
			const changed = text.slice(0, cut) + odd + text.slice(cut + 1);
			let expected: unknown;
			let isJson = true;
			try {
				expected = JSON.parse(changed);
			} catch {
				isJson = false;
			}
			const {value: read, issues: mistakes} = parseJsonWithComments(changed);
			if (mistakes.length === 0 && isJson) t.deepEqual(read, expected);
			else if (mistakes.length === 0) t.regex(changed, /,\s*[\]}]|\/[/*]/);
			else if (isJson) t.regex(mistakes[0]?.text ?? '', /stands here twice/);
		}),
	);
});

test('passes over comments and commas behind the last item', t => {
	const text = '// one\n{"a": [1, 2, /* three */], // "b": 4\n/**/"c": "// no comment /*", "d": {},}\n// end';
	t.deepEqual(parseJsonWithComments(text).value, {a: [1, 2], c: '// no comment /*', d: {}});
});

test('keeps every key as data', t => {
	const {value} = parseJsonWithComments('{"__proto__": {"polluted": true}, "constructor": 1}');
	t.deepEqual(Object.keys(value as object), ['__proto__', 'constructor']);
	t.is(({} as {polluted?: true}).polluted, undefined);
});

test('notes the line of each key and item', t => {
	const {lines} = parseJsonWithComments('{\n"a": {\n\n"b": [\n1,\n2]}}');
	t.is(lines.get(['a']), 2);
	t.is(lines.get(['a', 'b']), 4);
	t.is(lines.get(['a', 'b', 1]), 6);
});

for (const [text, line, column, says] of [
	['', 1, 1, /value is missing/],
	['{"a": 1', 1, 8, /, or } is missing/],
	['{\n  "a" 1}', 2, 7, /: is missing/],
	['{\n  a: 1}', 2, 3, /key in double quotes/],
	['{"a": 1, "a": 2}', 1, 10, /"a" stands here twice/],
	['[1 2]', 1, 4, /, or ] is missing/],
	['{"a": 01}', 1, 7, /value is missing/],
	['{"a": nope}', 1, 7, /value is missing/],
	["{'a': 1}", 1, 2, /key in double quotes/],
	['{"a": "x\ny"}', 1, 7, /closing " is missing/],
	['{"a": "\\x"}', 1, 7, /not written as JSON has it/],
	['{} {}', 1, 4, /follows the end/],
	['{,}', 1, 2, /key in double quotes/],
	['{"a": 1,,}', 1, 9, /key in double quotes/],
	['{} /* on and on', 1, 4, /end of this comment/],
	[`${'['.repeat(100_000)}`, 1, 66, /nested too deeply/],
] as const)
	test(`finds what is wrong with ${JSON.stringify(text.slice(0, 40))}, and where`, t => {
		const [mistake] = parseJsonWithComments(text).issues;
		t.like(mistake, {line, column});
		t.regex(mistake?.text ?? '', says);
	});
