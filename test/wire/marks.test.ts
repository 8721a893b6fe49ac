import test from 'ava';
import fc from 'fast-check';
import {ALL_MARKS, marks} from '../../lib/wire/marks.js';
import {scanMessage} from '../../lib/wire/scan.js';

const marksOf = (result: string): number =>
	scanMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)).marks;

const kinds: ReadonlyArray<[json: string, marks: number]> = [
	['{"content":[{"type":"text","text":"a"}]}', 0],
	['{"content":[{"type":"image"},{"type":"resource"}]}', 0],
	['{"content":[{"type":"audio"}]}', marks.audio],
	['{"content":[{"type" : "resource_link"}]}', marks.resourceLink],
	['{"content":[{"type":"video"}]}', marks.otherType],
	['{"content":[{"type":"texts"}]}', marks.otherType],
	['{"content":[{"type":"audi"}]}', marks.otherType],
	['{"content":[{"type":"resource_lin"}]}', marks.otherType],
	['{"content":[{"type":"resource_links"}]}', marks.otherType],
	['{"content":[{"type":"resourc"}]}', marks.otherType],
	['{"content":[{"type":"images"}]}', marks.otherType],
	['{"content":[{"type":1}]}', marks.otherType],
	['{"structuredContent":{}}', marks.structuredContent],
	['{"a":{"lastModified":"x"}}', marks.lastModified],
	['{"task":{}}', marks.task],
	['{"_meta":{"io.bridge/original":{}}}', marks.original],
	['{"_meta":{"progressToken":1}}', marks.progressToken],
	['{"tasks":{},"types":"video","progressTokens":1}', 0],
];

for (const [json, expected] of kinds)
	test(`sets the marks ${expected} for ${json}`, t => {
		t.is(marksOf(json), expected);
	});

test('sets no marks for members inside of a string', t => {
	const text = JSON.stringify('{"type":"video","lastModified":"x","task":1}');
	t.is(marksOf(`{"content":[{"type":"text","text":${text}}]}`), 0);
});

test('sets all key marks for a key with an escape', t => {
	t.is(marksOf('{"content":[{"t\\u0079pe":"video"}]}'), ALL_MARKS & ~marks.inexactNumber);
});

test('resets the marks for each message', t => {
	t.is(marksOf('{"task":{}}'), marks.task);
	t.is(marksOf('{}'), 0);
});

const isExact = (number: string): boolean => String(Number(number)) === number;

for (const number of [
	'1.0',
	'1e3',
	'-0',
	'12345678901234567890',
	'0.10',
	'1E-2',
	'-1.50',
	'0.1234567890123456789',
])
	test(`marks ${number} as inexact`, t => {
		t.is(marksOf(`{"n":${number}}`) & marks.inexactNumber, marks.inexactNumber);
	});

test('marks every number that a parser changes', t => {
	const integer = fc.bigInt({min: -(10n ** 20n), max: 10n ** 20n}).map(String);
	const fraction = fc
		.tuple(fc.integer(), fc.stringMatching(/^\d{1,18}$/))
		.map(([whole, part]) => `${whole}.${part}`);
	const power = fc
		.tuple(fc.integer(), fc.integer({min: -300, max: 300}))
		.map(([base, by]) => `${base}e${by}`);
	const property = fc.property(fc.oneof(integer, fraction, power), number => {
		const isMarked = (marksOf(`[{"a":[${number}]}]`) & marks.inexactNumber) !== 0;
		return isMarked || isExact(number);
	});
	t.notThrows(() => fc.assert(property, {numRuns: 2000}));
});

test('does not mark common numbers', t => {
	for (const number of ['0', '1', '-7', '0.9', '3.14', '123456789', '-0.5', '22.5'])
		t.is(marksOf(`{"n":${number}}`) & marks.inexactNumber, 0, number);
});
