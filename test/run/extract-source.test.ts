import test from 'ava';
import fc from 'fast-check';
import {extractSource} from '../../lib/run/extract-source.js';
import {parseStringLiteral} from '../../lib/run/python-literals.js';

for (const [command, expected] of [
	['wix.a()', 'wix.a()'],
	['```python\nwix.a()\n```', 'wix.a()'],
	['```\nwix.a()\n\nx\n```', 'wix.a()\n\nx'],
	['\n  ```py\n  a\n    b\n  ```  \n', 'a\n  b'],
	['````python\n"""```"""\n````', '"""```"""'],
	['~~~\na\n~~~', 'a'],
	['`wix.a()`', 'wix.a()'],
	['``wix.a()``', 'wix.a()'],
	['```wix.a()```', 'wix.a()'],
	['```python\n```', ''],
	['```\na()```', 'a()'],
	['```\na()  ````', 'a()'],
	['```\na()\n~~~', '```\na()\n~~~'],
	['    a\n    b', 'a\nb'],
	['\ta\n\t\tb', 'a\n\tb'],
	['  a\nb', '  a\nb'],
	['\n\n  if x:\n\n    y\n', 'if x:\n\n  y'],
	['a\r\nb\rc', 'a\nb\nc'],
	['\uFEFFa', 'a'],
	['x = "`"', 'x = "`"'],
	['', ''],
] as const) {
	test(`extracts ${JSON.stringify(expected)} from ${JSON.stringify(command)}`, t => {
		t.is(extractSource(command), expected);
	});
}

test('treats an unclosed fence as part of the program, with any number of spaces after it [SEC-D2]', t => {
	const command = `\`\`\`\n${' '.repeat(500_000)}x`;
	t.is(extractSource(command), command);
});

/** A regular expression for fences, too slow for long texts. */
const reference = /^(`{3,}|~{3,})[ \t]*[\w+.-]*[ \t]*\n([\s\S]*?)\n?[ \t]*\1[`~]*$/;

test('matches the equivalent regular expression for fences [SEC-D11]', t => {
	const piece = fc.constantFrom('```', '~~~', '`', '~', ' ', '\n', '\t', 'x', '````\n');
	fc.assert(
		fc.property(fc.constantFrom('```\n', '~~~py \n', '```` \n'), fc.array(piece), (head, pieces) => {
			const command = `${head}${pieces.join('')}`;
			const block = reference.exec(command.trim())?.[2];
			// A block with its own fence would lose that, too.
			if (block === undefined || /^\s*[`~]/.test(block)) return;
			t.is(extractSource(command), extractSource(block), command);
		}),
		{numRuns: 5000},
	);
});

for (const [label, text] of [
	['spaces', `\`\`\`\n${' '.repeat(2 ** 20)}x`],
	['lines', `\`\`\`\n${' \n'.repeat(2 ** 19)}x`],
	['fences', '```\n'.repeat(2 ** 18)],
	['spaces after the fence', `\`\`\`${' '.repeat(2 ** 20)}x`],
] as const)
	test(`parses 1 MiB of ${label} in linear time [SEC-D11]`, t => {
		t.is(typeof extractSource(text), 'string');
	});

test('string literals over 1 MiB are evaluated by the interpreter [SEC-D11]', t => {
	t.is(parseStringLiteral(`"${'a'.repeat(2 ** 20 - 2)}"`)?.length, 2 ** 20 - 2);
	t.is(parseStringLiteral(`"${'a'.repeat(2 ** 24)}"`), undefined);
});
