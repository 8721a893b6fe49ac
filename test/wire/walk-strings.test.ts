import test from 'ava';
import fc from 'fast-check';
import {INVALID, Walk} from '../../lib/wire/walk.js';

const SIMPLE = '"\\\\/bfnrt'.replace('\\\\', '\\');

/** Finds the end of a string byte by byte. */
function slowEnd(text: Buffer): number {
	for (let at = 1; at < text.length; ) {
		const byte = text[at] as number;
		if (byte === 0x22) return at + 1;
		if (byte < 0x20) return INVALID;
		if (byte !== 0x5c) {
			at++;
			continue;
		}
		const rest = Buffer.from(text).toString('latin1', at + 1, at + 6);
		if (SIMPLE.includes(rest.charAt(0)) && rest !== '') at += 2;
		else if (/^u[0-9a-fA-F]{4}/.test(rest)) at += 6;
		else return INVALID;
	}
	return INVALID;
}

const walk = new Walk();

const endOf = (text: Buffer): number => {
	walk.seal(walk.write(text, 0));
	return walk.endOfString(0);
};

const piece = fc.oneof(
	{arbitrary: fc.string({unit: fc.constantFrom(...'abcxyz/u'), maxLength: 40}), weight: 4},
	fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\b', '\\f', '\\r', '\\t', '\\u00e9', '\\uD834'),
	fc.constantFrom('\\', '\\q', '\\u12', '"', '\0', '\x1f', '\x7f', 'é'),
);

test('finds the end of a string like a simple scan, for any text', t => {
	const text = fc.array(piece, {maxLength: 30}).map(pieces => Buffer.from(`"${pieces.join('')}"`));
	fc.assert(
		fc.property(text, bytes => endOf(bytes) === slowEnd(bytes)),
		{numRuns: 5000},
	);
	t.pass();
});

test('finds the end of a string like a simple scan, for any bytes', t => {
	fc.assert(
		fc.property(fc.uint8Array({maxLength: 300}), bytes => {
			const text = Buffer.concat([Buffer.from('"'), bytes]);
			return endOf(text) === slowEnd(text);
		}),
		{numRuns: 2000},
	);
	t.pass();
});

for (const [name, lead] of [
	['every single byte', ''],
	['every letter behind a backslash', '\\'],
	['every first digit of an escape', '\\u'],
	['every last digit of an escape', '\\u00e'],
] as const)
	test(`distinguishes ${name} at every position of sixteen`, t => {
		const wrong: Array<{byte: number; at: number}> = [];
		const text = Buffer.alloc(64);
		for (let byte = 0; byte < 256; byte++)
			for (let at = 1; at < 33; at++) {
				text.fill('a');
				text[0] = text[63] = 0x22;
				text.write(lead, at);
				text[at + lead.length] = byte;
				if (endOf(text) !== slowEnd(text)) wrong.push({byte, at});
			}
		t.deepEqual(wrong, []);
	});

test('does not read bytes of an earlier, longer text', t => {
	for (const longer of ['n', '"', '0', 'a']) {
		walk.seal(walk.write(Buffer.alloc(1000, longer), 0));
		for (const text of ['"abc\\', '"abc', '"', '"\\u12', `"${'a'.repeat(40)}`])
			t.is(endOf(Buffer.from(text)), INVALID, text);
	}
});

test('reuses its memory and grows it for larger texts', t => {
	const fresh = new Walk();
	for (const length of [10, 70_000, 10, 300_000, 5_000_000, 10]) {
		const text = Buffer.alloc(length, 'a');
		text[0] = text[length - 1] = 0x22;
		fresh.seal(fresh.write(text, 0));
		t.is(fresh.endOfString(0), length);
	}
	t.true(fresh.isLarge);
});
