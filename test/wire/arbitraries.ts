import fc from 'fast-check';

/** JSON white space. */
export const space = fc.string({unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 2});

/** White space without line breaks. */
export const blank = fc.string({unit: fc.constantFrom(' ', '\t'), maxLength: 2});

const escaped = fc.constantFrom(
	'\\n',
	'\\"',
	'\\\\',
	'\\/',
	'\\b',
	'\\f',
	'\\r',
	'\\t',
	'\\u0000',
	'\\u2028',
	'\\uD800',
	'\\udfff',
);

const raw = fc.string({unit: 'binary', maxLength: 8}).map(text => JSON.stringify(text).slice(1, -1));

/** A JSON string in any spelling, including its quotes. */
export const stringText = fc
	.array(
		fc.oneof({arbitrary: raw, weight: 3}, escaped, fc.constantFrom('\u2028', '\u007f', 'é', '😀', '{', ']')),
		{
			maxLength: 5,
		},
	)
	.map(parts => `"${parts.join('')}"`);

export const numberText = fc.oneof(
	fc.constantFrom('0', '-0', '1.0', '1e3', '1E+3', '-2.50e-7', '12345678901234567890', '9007199254740993'),
	fc.integer().map(String),
	fc.double({noNaN: true, noDefaultInfinity: true}).map(value => JSON.stringify(value)),
);

/** A spelling of a key: plain, or with one letter as an escape. */
export const spelled = (word: string) =>
	fc.nat({max: word.length * 4}).map(at => {
		const code = word.charCodeAt(at);
		if (Number.isNaN(code)) return `"${word}"`;
		return `"${word.slice(0, at)}\\u${code.toString(16).padStart(4, '0')}${word.slice(at + 1)}"`;
	});

const list = (items: readonly string[], [open, close]: readonly [string, string], gap: string): string =>
	`${open}${gap}${items.join(`${gap},${gap}`)}${gap}${close}`;

/** JSON in any spelling, with white space of this kind between tokens. */
export const jsonText = (gap: fc.Arbitrary<string>): fc.Arbitrary<string> =>
	fc.letrec<{value: string; member: string}>(tie => ({
		value: fc.oneof(
			{maxDepth: 4, withCrossShrink: true},
			fc.constantFrom('true', 'false', 'null', '{}', '[]'),
			stringText,
			numberText,
			fc.tuple(fc.array(tie('value'), {maxLength: 4}), gap).map(([items, g]) => list(items, ['[', ']'], g)),
			fc.tuple(fc.array(tie('member'), {maxLength: 4}), gap).map(([items, g]) => list(items, ['{', '}'], g)),
		),
		member: fc
			.tuple(stringText, gap, gap, tie('value'))
			.map(([key, before, after, value]) => `${key}${before}:${after}${value}`),
	})).value;

/** Positions at which to split bytes of this length, in order. */
export const cutsOf = (length: number): fc.Arbitrary<number[]> =>
	fc.array(fc.nat({max: length}), {maxLength: 12}).map(cuts => cuts.sort((a, b) => a - b));
