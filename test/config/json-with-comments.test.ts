import test from 'ava';
import fc from 'fast-check';
import {parseJsonWithComments} from '../../lib/config/json-with-comments.js';

const plain = fc
	.jsonValue({maxDepth: 4})
	// JSON.stringify writes -0 as 0.
	.map(value => JSON.parse(JSON.stringify(value)) as unknown);

test('parses JSON like JSON.parse', t => {
	fc.assert(
		fc.property(plain, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
			const {value: parsed, issues} = parseJsonWithComments(JSON.stringify(value, undefined, indent));
			t.deepEqual(issues, []);
			t.deepEqual(parsed, value);
		}),
	);
});

test('rejects text that JSON.parse rejects, except comments and trailing commas', t => {
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
			const {value: parsed, issues} = parseJsonWithComments(changed);
			if (issues.length === 0 && isJson) t.deepEqual(parsed, expected);
			else if (issues.length === 0) t.regex(changed, /,\s*[\]}]|\/[/*]/);
			else if (isJson) t.regex(issues[0]?.text ?? '', /Duplicate key/);
		}),
	);
});

test('skips comments and trailing commas', t => {
	const text = '// one\n{"a": [1, 2, /* three */], // "b": 4\n/**/"c": "// no comment /*", "d": {},}\n// end';
	t.deepEqual(parseJsonWithComments(text).value, {a: [1, 2], c: '// no comment /*', d: {}});
});

test('treats every key as data', t => {
	const {value} = parseJsonWithComments('{"__proto__": {"polluted": true}, "constructor": 1}');
	t.deepEqual(Object.keys(value as object), ['__proto__', 'constructor']);
	t.is(({} as {polluted?: true}).polluted, undefined);
});

test('records the line of each key and item', t => {
	const {lines} = parseJsonWithComments('{\n"a": {\n\n"b": [\n1,\n2]}}');
	t.is(lines.get(['a']), 2);
	t.is(lines.get(['a', 'b']), 4);
	t.is(lines.get(['a', 'b', 1]), 6);
});

for (const [text, line, column, pattern] of [
	['', 1, 1, /Expected a value/],
	['{"a": 1', 1, 8, /Expected , or }/],
	['{\n  "a" 1}', 2, 7, /Expected :/],
	['{\n  a: 1}', 2, 3, /Expected a key in double quotes/],
	['{"a": 1, "a": 2}', 1, 10, /Duplicate key "a"/],
	['[1 2]', 1, 4, /Expected , or ]/],
	['{"a": 01}', 1, 7, /Expected a value/],
	['{"a": nope}', 1, 7, /Expected a value/],
	["{'a': 1}", 1, 2, /key in double quotes/],
	['{"a": "x\ny"}', 1, 7, /closing " is missing/],
	['{"a": "\\x"}', 1, 7, /Invalid JSON string/],
	['{} {}', 1, 4, /after the end/],
	['{,}', 1, 2, /key in double quotes/],
	['{"a": 1,,}', 1, 9, /key in double quotes/],
	['{} /* on and on', 1, 4, /comment is not closed/],
	[`${'['.repeat(100_000)}`, 1, 66, /nested too deeply/],
] as const)
	test(`reports the error in ${JSON.stringify(text.slice(0, 40))} with its location`, t => {
		const [issue] = parseJsonWithComments(text).issues;
		t.like(issue, {line, column});
		t.regex(issue?.text ?? '', pattern);
	});
