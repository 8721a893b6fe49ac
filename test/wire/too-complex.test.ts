import test from 'ava';
import {type MessageHead, scanMessage} from '../../lib/wire/scan.js';
import {MAX_KEY_BYTES, MAX_MESSAGE_VALUES} from '../../lib/wire/walk.js';

const scanText = (text: string): MessageHead => scanMessage(Buffer.from(text));
const message = (members: string): string => `{"jsonrpc":"2.0",${members}}`;

/** A request with this many values: its four members and the items of a list. */
const withValues = (count: number): string =>
	message(`"id":1,"method":"a","params":[${'1,'.repeat(count - 5)}1]`);

test('rejects a message with more than a million values and still finds the id [SEC-D11]', t => {
	t.is(scanText(withValues(MAX_MESSAGE_VALUES)).flaw, undefined);
	const {flaw, id} = scanText(withValues(MAX_MESSAGE_VALUES + 1));
	t.deepEqual([flaw, id], ['too complex', '1']);
	// The count is reset for the next message.
	t.is(scanText(withValues(MAX_MESSAGE_VALUES)).flaw, undefined);
});

test('counts strings, numbers, literals, lists and objects, also in a batch [SEC-D11]', t => {
	for (const item of ['{}', '[]', '"a"', 'null', '{"a":1}', '[1]'])
		t.is(
			scanText(message(`"id":1,"method":"a","params":[${`${item},`.repeat(MAX_MESSAGE_VALUES)}1]`)).flaw,
			'too complex',
		);
	t.is(
		scanText(`[${'{"jsonrpc":"2.0","method":"a"},'.repeat(MAX_MESSAGE_VALUES / 2)}1]`).flaw,
		'too complex',
	);
});

for (const [where, text] of [
	['at the top', (key: string) => message(`"id":1,"method":"a","${key}":1`)],
	['in params', (key: string) => message(`"id":1,"method":"a","params":{"${key}":1}`)],
	['deeper', (key: string) => message(`"id":1,"method":"a","params":{"b":[{"${key}":1}]}`)],
] as const)
	test(`rejects a key of more than 16,383 bytes ${where} [SEC-D11]`, t => {
		t.is(scanText(text('k'.repeat(MAX_KEY_BYTES))).flaw, undefined);
		t.is(scanText(text('k'.repeat(MAX_KEY_BYTES + 1))).flaw, 'too complex');
		t.is(scanText(text('k')).flaw, undefined);
	});
