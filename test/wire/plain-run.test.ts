import test from 'ava';
import fc from 'fast-check';
import {plainRun, WINDOW} from '../../lib/wire/plain-run.js';

/** The same in JavaScript, byte by byte. */
function slowRun(text: Uint8Array, from: number): number {
	let at = from;
	while (at < text.length) {
		const byte = text[at] as number;
		if (byte === 0x5c && '"\\/bfnrt'.includes(String.fromCharCode(text[at + 1] ?? 0))) at += 2;
		else if (byte < 0x20 || byte === 0x22 || byte === 0x5c) return at;
		else at++;
	}
	return at;
}

const plain = plainRun();

const put = (text: Uint8Array): void => {
	plain.window.set(text);
	plain.window.fill(0, text.length, text.length + 16);
};

const piece = fc.oneof(
	{arbitrary: fc.string({unit: fc.constantFrom(...'abcxyz/u'), maxLength: 40}), weight: 4},
	fc.constantFrom(
		'\\n',
		'\\"',
		'\\\\',
		'\\/',
		'\\b',
		'\\f',
		'\\r',
		'\\t',
		'\\u00e9',
		'\\',
		'\\q',
		'"',
		'\0',
		'\x1f',
		'é',
	),
);

test('stops where a walk byte by byte stops, for any text and any start', t => {
	const text = fc.array(piece, {minLength: 1, maxLength: 30}).map(pieces => Buffer.from(pieces.join('')));
	fc.assert(
		fc.property(text, fc.nat(), (bytes, at) => {
			const from = at % (bytes.length + 1);
			put(bytes);
			return plain.run(from) === slowRun(bytes, from);
		}),
		{numRuns: 3000},
	);
	t.pass();
});

test('stops where a walk byte by byte stops, for any bytes', t => {
	fc.assert(
		fc.property(fc.uint8Array({minLength: 1, maxLength: 300}), bytes => {
			put(bytes);
			for (let from = 0; from < bytes.length; from++)
				if (plain.run(from) !== slowRun(bytes, from)) return false;
			return true;
		}),
		{numRuns: 500},
	);
	t.pass();
});

test('tells every single byte apart, at every place of sixteen', t => {
	const wrong: Array<{byte: number; at: number}> = [];
	const text = Buffer.alloc(48);
	for (let byte = 0; byte < 256; byte++)
		for (let at = 0; at < 32; at++) {
			text.fill('a');
			text[at] = byte;
			put(text);
			if (plain.run(0) !== slowRun(text, 0)) wrong.push({byte, at});
		}
	t.deepEqual(wrong, []);
});

test('tells every letter behind a backslash apart, at every place of sixteen', t => {
	const wrong: Array<{byte: number; at: number}> = [];
	const text = Buffer.alloc(48);
	for (let byte = 0; byte < 256; byte++)
		for (let at = 0; at < 32; at++) {
			text.fill('a');
			text[at] = 0x5c;
			text[at + 1] = byte;
			put(text);
			if (plain.run(0) !== slowRun(text, 0)) wrong.push({byte, at});
		}
	t.deepEqual(wrong, []);
});

test('runs to the end of a full window, and no further', t => {
	put(Buffer.alloc(WINDOW, 'a'));
	t.is(plain.run(0), WINDOW);
	t.is(plain.run(WINDOW - 1), WINDOW);
});

test('does not take what is behind the text for the second half of an escape', t => {
	put(Buffer.alloc(WINDOW, 'n'));
	put(Buffer.from('abc\\'));
	t.is(plain.run(0), 3);
});
