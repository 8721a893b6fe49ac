import {isUtf8} from 'node:buffer';
import test from 'ava';
import fc from 'fast-check';
import {INVALID, MAX_MESSAGE_DEPTH, Walk} from '../../lib/wire/walk.js';
import {isWhitespaceUpTo} from '../../lib/wire/whitespace.js';
import {jsonText, space} from './arbitraries.js';

const walk = new Walk();

/** Where the one value of a text ends. */
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

/** A text with some bytes changed, put in or taken out. */
const mutated = fc
	.tuple(
		fc.oneof(jsonText(space), fc.json({stringUnit: 'binary'})),
		fc.array(
			fc.record({
				at: fc.nat({max: 400}),
				taken: fc.nat({max: 2}),
				put: fc.oneof(
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
		for (const {at, taken, put} of changes) {
			const from = at % (bytes.length + 1);
			bytes = Buffer.concat([bytes.subarray(0, from), Buffer.from(put), bytes.subarray(from + taken)]);
		}
		return bytes;
	});

test('every JSON text is accepted, however it is spelled', t => {
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

test('the position returned is the one after the value, whatever follows it', t => {
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

test('a text with bytes changed, put in or taken out is accepted exactly when JSON.parse takes it', t => {
	let refused = 0;
	fc.assert(
		fc.property(mutated, bytes => {
			fc.pre(isUtf8(bytes));
			const isJson = parses(bytes);
			if (!isJson) refused++;
			return accepts(bytes) === isJson;
		}),
		{numRuns: 5000},
	);
	t.true(refused > 500);
});

test('the start of a text is accepted exactly when JSON.parse takes it', t => {
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

test('a value that goes on behind the end it was given is none', t => {
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

test('arbitrary bytes are walked over once, to a position inside of them or to none', t => {
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

test('bytes beyond ASCII in a string are noted, for the caller to check', t => {
	endOf(Buffer.from('{"a":["plain"]}'));
	t.false(walk.hasHighBytes);
	endOf(Buffer.from('{"a":["é"]}'));
	t.true(walk.hasHighBytes);
	endOf(Buffer.from('{"é":["plain"],"a":"b"}'));
	t.true(walk.hasHighBytes);
	endOf(Buffer.from(`["${'a'.repeat(100)}\\n${'b'.repeat(15)}"]`));
	t.false(walk.hasHighBytes);
});

/** Strings are looked at sixteen bytes at a time, in memory that comes in pages. */
const borders = [32, 64, 256, 65_536 - 2048, 65_536];

/** Puts a word at each place near a border of a long string, and tells where the string ends then. */
function* nearBorders(word: string, length = 180_000): Generator<{at: number; end: number; size: number}> {
	const string = Buffer.alloc(length, 'a');
	string[0] = string[length - 1] = 0x22;
	for (const border of borders)
		for (let at = border - 12; at <= border + 6; at++) {
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
	test(`a long string with ${JSON.stringify(word)} anywhere near a border is walked over`, t => {
		const wrong = [...nearBorders(word)].filter(({end, size}) => end !== size);
		t.deepEqual(wrong, []);
	});

for (const word of ['\\q', '\\u12g4', '\\u123_', '\x1f', '\n', '\0', '\\\n', '\\é'])
	test(`a long string with ${JSON.stringify(word)} anywhere near a border is none`, t => {
		const wrong = [...nearBorders(word)].filter(({end}) => end !== INVALID);
		t.deepEqual(wrong, []);
	});

test('a long string ends at its first quote that is no escape, also near a border', t => {
	const wrong = [...nearBorders('"')].filter(({at, end}) => end !== at + 1);
	t.deepEqual(wrong, []);
});

test('a long string of escapes alone is walked over, at whatever place its escapes begin', t => {
	fc.assert(
		fc.property(fc.nat({max: 20}), fc.constantFrom('\\\\', '\\"', '\\ud800', '\\/'), (lead, word) => {
			const text = Buffer.from(`"${'x'.repeat(lead)}${word.repeat(20_000)}"`);
			return endOf(text) === text.length;
		}),
		{numRuns: 60},
	);
	t.pass();
});

test('a long string without an end is none', t => {
	for (const length of [255, 256, 257, 258, 4352, 4353, 100_000])
		for (const last of ['a', '\\', '\\"', '\\u00'])
			t.is(endOf(Buffer.from(`"${'a'.repeat(length - last.length)}${last}`)), INVALID, `${length} ${last}`);
});

const arrays = (depth: number, inside: string): string => '['.repeat(depth) + inside + ']'.repeat(depth);
const objects = (depth: number, inside: string): string => '{"a":'.repeat(depth) + inside + '}'.repeat(depth);

for (const [kind, nested] of Object.entries({arrays, objects}))
	for (const inside of ['1', kind === 'arrays' ? '[]' : '{}']) {
		const more = inside === '1' ? 0 : 1;
		test(`${MAX_MESSAGE_DEPTH} ${kind} around ${inside} are not too deep [A4]`, t => {
			const text = Buffer.from(nested(MAX_MESSAGE_DEPTH - more, inside));
			t.is(endOf(text), text.length);
			t.false(walk.isTooDeep);
		});

		test(`${MAX_MESSAGE_DEPTH + 1} ${kind} around ${inside} are too deep, and walked over all the same [A4]`, t => {
			const text = Buffer.from(nested(MAX_MESSAGE_DEPTH + 1 - more, inside));
			t.is(endOf(text), text.length);
			t.true(walk.isTooDeep);
		});
	}

test('a hundred thousand levels are walked over without an error [A4]', t => {
	const text = Buffer.from(arrays(100_000, '"]"'));
	t.is(endOf(text), text.length);
	t.true(walk.isTooDeep);
});
