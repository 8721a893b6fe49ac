import test from 'ava';
import fc from 'fast-check';
import {bytesFrom, bytesOf, type Line, shareRaw} from './support.js';
import {exchange} from './tcp.js';

const shared = shareRaw(echo => ['--flush-millis', '20', `0:127.0.0.1:${echo}`]);

/** The encoding of a byte in a data line. */
function escaped(byte: number): string {
	const text = String.fromCharCode(byte);
	const shortEscape = new Map([
		['\t', '\\t'],
		['\n', '\\n'],
		['\r', '\\r'],
		['"', '\\"'],
		['\\', '\\\\'],
		['%', '%25'],
	]).get(text);
	if (shortEscape !== undefined) return shortEscape;
	const isPrintable = byte >= 0x20 && byte <= 0x7e;
	return isPrintable ? text : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

const all = Buffer.from(Array.from({length: 256}, (_, byte) => byte));

/** Sends bytes through the echo. Returns the lines of the connection, parsed and as text. */
async function trace(bytes: Uint8Array): Promise<{lines: Line[]; texts: string[]; client: string}> {
	const {client, reply} = await exchange(shared().port, bytes);
	if (!reply.equals(bytes)) throw new Error('The echo returned different bytes.');
	const lines = await shared().connection(client);
	const id = String(lines[0]?.ConnID);
	const texts = shared().running.lines.filter(text => text.includes(id) && text.includes('"data":'));
	return {lines, texts, client};
}

test('logs each of the 256 byte values in its only valid encoding [SIMPLE_014] [I1]', async t => {
	const {texts} = await trace(all);
	const encoded = [...all].map(escaped).join('');
	t.true(texts.some(text => text.includes(`"data":"${encoded}"`)));
	const tokens = encoded.match(/%[\dA-F]{2}|\\[tnr"\\]|[ -~]/g);
	t.is(tokens?.length, 256);
});

test('writes no \\u escape in a data line [SIMPLE_014]', async t => {
	const {texts} = await trace(Buffer.concat([all, Buffer.from('\u0000\u001f\u007f\u2028é漢😀 \\u0041')]));
	// A doubled backslash is an escaped backslash, so text such as \\u0041 is not an escape.
	for (const text of texts) t.notRegex(text.replaceAll('\\\\', ''), /\\u/);
});

test('JSON.parse and percent-decoding restore the exact bytes of both directions [SIMPLE_014A]', async t => {
	const {lines, client} = await trace(all);
	t.true(bytesFrom(lines, client).equals(all));
	t.true(bytesFrom(lines, `127.0.0.1:${shared().echo.port}`).equals(all));
});

for (const [what, bytes] of [
	['half of a UTF-8 character', Buffer.from('é').subarray(0, 1)],
	['a surrogate of CESU-8', Buffer.from([0xed, 0xa0, 0x80])],
	['text that looks escaped', Buffer.from('%41 %zz %25 +\\x41 \\u0041 &amp;')],
	['a byte order mark', Buffer.from('\ufeff{}')],
	['a run of zero bytes', Buffer.alloc(5000)],
	['line separators', Buffer.from('\u2028\u2029\u0085\r\n')],
] as const)
	test(`logs ${what} byte for byte [I1]`, async t => {
		const {lines, client} = await trace(bytes);
		t.true(bytesFrom(lines, client).equals(bytes));
	});

test('logs arbitrary bytes of both directions byte for byte [I1]', async t => {
	const target = `127.0.0.1:${shared().echo.port}`;
	await fc.assert(
		fc.asyncProperty(fc.uint8Array({minLength: 1, maxLength: 3000}), async bytes => {
			const {lines, client} = await trace(bytes);
			t.true(bytesFrom(lines, client).equals(bytes));
			t.true(bytesFrom(lines, target).equals(bytes));
		}),
		{numRuns: 20},
	);
});

test('escapes neither a plus nor a slash', async t => {
	const {texts, lines, client} = await trace(Buffer.from('a+b/c'));
	t.true(texts.some(text => text.includes('"data":"a+b/c"')));
	t.is(String(bytesOf(String(lines.find(({from, data}) => from === client && data)?.data))), 'a+b/c');
});
