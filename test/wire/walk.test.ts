import {isUtf8} from 'node:buffer';
import test from 'ava';
import fc from 'fast-check';
import {INVALID, MAX_MESSAGE_DEPTH, Walk} from '../../lib/wire/walk.js';
import {isWhitespaceUpTo} from '../../lib/wire/whitespace.js';
import {jsonText, space} from './arbitraries.js';

const walk = new Walk();

/** Returns the end of the value in a text. */
const endOf = (bytes: Buffer): number => {
	walk.seal(walk.write(bytes, 0));
	return walk.endOfValue(walk.skipWhitespace(0));
};

const accepts = (bytes: Buffer): boolean => {
	const end = endOf(bytes);
	return end !== INVALID && isWhitespaceUpTo(bytes, end, bytes.length);
};

const parses = (bytes: Buffer): boolean => {
	try {
		JSON.parse(bytes.toString());
		return true;
	} catch {
		return false;
	}
};

/** A JSON text with some bytes changed, inserted or removed. */
const mutated = fc
	.tuple(
		fc.oneof(jsonText(space), fc.json({stringUnit: 'binary'})),
		fc.array(
			fc.record({
				at: fc.nat({max: 400}),
				removed: fc.nat({max: 2}),
				inserted: fc.oneof(
					fc.constantFrom(...'{}[]",:\\-+.eEtfnu019 \n\t'),
					fc.constant(''),
					fc.string({maxLength: 2}),
				),
			}),
			{minLength: 1, maxLength: 3},
		),
	)
	.map(([text, changes]) => {
		let bytes = Buffer.from(text);
		for (const {at, removed, inserted} of changes) {
			const from = at % (bytes.length + 1);
			bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from(inserted), bytes.subarray(from + removed)]);
		}
		return bytes;
	});

test('accepts every JSON text in any spelling', t => {
	const text = fc.oneof(
		fc.json({stringUnit: 'binary'}),
		fc.jsonValue({stringUnit: 'binary'}).map(value => JSON.stringify(value, undefined, '\t')),
		fc.tuple(space, jsonText(space), space).map(parts => parts.join('')),
	);
	fc.assert(
		fc.property(text, json => accepts(Buffer.from(json))),
		{numRuns: 3000},
	);
	t.pass();
});

test('returns the position after the value, whatever follows', t => {
	const tail = fc.constantFrom('', ',', ' ', '}', ']', '\n"', ',"a":1');
	fc.assert(
		fc.property(jsonText(space), tail, (json, rest) => {
			const bytes = Buffer.from(json + rest);
			return endOf(bytes) === Buffer.byteLength(json);
		}),
		{numRuns: 1000},
	);
	t.pass();
});

test('accepts a mutated text if and only if JSON.parse does', t => {
	let invalidCount = 0;
	fc.assert(
		fc.property(mutated, bytes => {
			fc.pre(isUtf8(bytes));
			const isJson = parses(bytes);
			if (!isJson) invalidCount++;
			return accepts(bytes) === isJson;
		}),
		{numRuns: 5000},
	);
	t.true(invalidCount > 500);
});

test('accepts a truncated text if and only if JSON.parse does', t => {
	fc.assert(
		fc.property(jsonText(space), json => {
			const bytes = Buffer.from(json);
			for (let end = 0; end < bytes.length; end++) {
				const part = bytes.subarray(0, end);
				if (isUtf8(part) && accepts(part) !== parses(part)) return false;
			}
			return true;
		}),
		{numRuns: 200},
	);
	t.pass();
});

test('rejects a value that continues behind the end', t => {
	fc.assert(
		fc.property(jsonText(space), fc.nat(), (json, at) => {
			const bytes = Buffer.from(json);
			const end = at % bytes.length;
			const close = endOf(bytes.subarray(0, end));
			return close === INVALID || (close <= end && parses(bytes.subarray(0, close)));
		}),
		{numRuns: 2000},
	);
	t.pass();
});

test('returns a position inside of arbitrary bytes, or rejects them', t => {
	const bytes = fc.oneof(
		fc.uint8Array({maxLength: 200}),
		fc.array(fc.constantFrom(...Buffer.from('{}[]",:\\u0-.e \xff', 'latin1')), {maxLength: 200}),
	);
	fc.assert(
		fc.property(bytes, content => {
			const text = Buffer.from(content);
			const end = endOf(text);
			return end === INVALID || (end > 0 && end <= text.length);
		}),
		{numRuns: 5000},
	);
	t.pass();
});

test('reports non-ASCII bytes in strings', t => {
	endOf(Buffer.from('{"a":["plain"]}'));
	t.false(walk.hasHighBytes);
	endOf(Buffer.from('{"a":["é"]}'));
	t.true(walk.hasHighBytes);
	endOf(Buffer.from('{"é":["plain"],"a":"b"}'));
	t.true(walk.hasHighBytes);
	endOf(Buffer.from(`["${'a'.repeat(100)}\\n${'b'.repeat(15)}"]`));
	t.false(walk.hasHighBytes);
});

/** Positions near boundaries of the vectors of sixteen bytes and of memory pages. */
const boundaries = [32, 64, 256, 65_536 - 2048, 65_536];

/** Inserts a word at each position near a boundary of a long string. Yields the end that is found. */
function* nearBoundaries(word: string, length = 180_000): Generator<{at: number; end: number; size: number}> {
	const string = Buffer.alloc(length, 'a');
	string[0] = string[length - 1] = 0x22;
	for (const boundary of boundaries)
		for (let at = boundary - 12; at <= boundary + 6; at++) {
			string.write(word, at);
			yield {at, end: endOf(string), size: length};
			string.fill('a', at, at + Buffer.byteLength(word));
		}
}

for (const word of [
	'\\n',
	'\\"',
	'\\\\',
	'\\u00e9',
	'\\\\\\"',
	'\\\\\\u005c\\n',
	'é',
	'😀',
	'\u2028',
	'\x7f',
])
	test(`accepts a long string with ${JSON.stringify(word)} near a boundary`, t => {
		const wrong = [...nearBoundaries(word)].filter(({end, size}) => end !== size);
		t.deepEqual(wrong, []);
	});

for (const word of ['\\q', '\\u12g4', '\\u123_', '\x1f', '\n', '\0', '\\\n', '\\é'])
	test(`rejects a long string with ${JSON.stringify(word)} near a boundary`, t => {
		const wrong = [...nearBoundaries(word)].filter(({end}) => end !== INVALID);
		t.deepEqual(wrong, []);
	});

test('ends a long string at its first unescaped quote, also near a boundary', t => {
	const wrong = [...nearBoundaries('"')].filter(({at, end}) => end !== at + 1);
	t.deepEqual(wrong, []);
});

test('accepts a long string of escapes at any alignment', t => {
	fc.assert(
		fc.property(fc.nat({max: 20}), fc.constantFrom('\\\\', '\\"', '\\ud800', '\\/'), (lead, word) => {
			const text = Buffer.from(`"${'x'.repeat(lead)}${word.repeat(20_000)}"`);
			return endOf(text) === text.length;
		}),
		{numRuns: 60},
	);
	t.pass();
});

test('rejects a long string without an end', t => {
	for (const length of [255, 256, 257, 258, 4352, 4353, 100_000])
		for (const last of ['a', '\\', '\\"', '\\u00'])
			t.is(endOf(Buffer.from(`"${'a'.repeat(length - last.length)}${last}`)), INVALID, `${length} ${last}`);
});

const arrays = (depth: number, inside: string): string => '['.repeat(depth) + inside + ']'.repeat(depth);
const objects = (depth: number, inside: string): string => '{"a":'.repeat(depth) + inside + '}'.repeat(depth);

for (const [kind, nested] of Object.entries({arrays, objects}))
	for (const inside of ['1', kind === 'arrays' ? '[]' : '{}']) {
		const more = inside === '1' ? 0 : 1;
		test(`accepts ${MAX_MESSAGE_DEPTH} ${kind} around ${inside} [A4]`, t => {
			const text = Buffer.from(nested(MAX_MESSAGE_DEPTH - more, inside));
			t.is(endOf(text), text.length);
			t.false(walk.isTooDeep);
		});

		test(`reports ${MAX_MESSAGE_DEPTH + 1} ${kind} around ${inside} as too deep and still finds the end [A4]`, t => {
			const text = Buffer.from(nested(MAX_MESSAGE_DEPTH + 1 - more, inside));
			t.is(endOf(text), text.length);
			t.true(walk.isTooDeep);
		});
	}

test('walks a hundred thousand levels without an error [A4]', t => {
	const text = Buffer.from(arrays(100_000, '"]"'));
	t.is(endOf(text), text.length);
	t.true(walk.isTooDeep);
});
