import test from 'ava';
import {createDraft, editMessage} from '../../lib/core/edit-message.js';
import {bridgeOrigin, Envelope} from '../../lib/core/envelope.js';
import {objectOf} from '../../lib/util/json.js';

const received = (text: string): Envelope => Envelope.received(Buffer.from(`${text}\n`), bridgeOrigin);
const withA = (envelope: Envelope): string =>
	editMessage(envelope, body => ({...body, a: 1})).bytes.toString();

test('returns the same envelope when the edit changes nothing', t => {
	for (const text of ['{"id":1, "n":1}', '{"id":1, "n":1.0}']) {
		const envelope = received(text);
		t.is(
			editMessage(envelope, body => body),
			envelope,
		);
	}
});

test('keeps the original message of a changed one', t => {
	for (const text of ['{"id":1,"n":1}', '{"id":1,"n":1.0}']) {
		const envelope = received(text);
		const changed = editMessage(envelope, body => ({...body, n: 2}));
		t.is(changed.original, envelope);
		t.false(changed.isReceived);
		t.is(changed.bytes.toString(), '{"id":1,"n":2}');
	}
});

for (const number of [
	'1.0',
	'1e5',
	'1E+400',
	'-0',
	'9007199254740993',
	'-9007199254740993',
	'0.1000',
	'12345678901234567890',
])
	test(`keeps the spelling of ${number}`, t => {
		t.is(
			withA(received(`{"id":${number},"n":[${number},{"m":${number}}]}`)),
			`{"id":${number},"n":[${number},{"m":${number}}],"a":1}`,
		);
	});

test('keeps the spelling of numbers that are moved', t => {
	const changed = editMessage(received('{"id":1,"x":1.0,"y":2.0,"z":3.50}'), ({x, z}) => ({z, other: {x}}));
	t.is(changed.bytes.toString(), '{"z":3.50,"other":{"x":1.0}}');
});

test('does not change digits in strings and keys', t => {
	const text = '{"1.0":"2.0","a\\"3.0":"\\\\","n":1.0}';
	t.is(withA(received(text)), `${text.slice(0, -1)},"a":1}`);
});

test('keeps a string that looks like a placeholder after unescaping', t => {
	const changed = withA(received('{"n":1.0,"s":"\\u0000n\\u0075mber 0"}'));
	t.is(objectOf(JSON.parse(changed)).s, '\u0000number 0');
});

test('builds a changed message from a draft', t => {
	const {body, with: withBody} = createDraft(received('{"id":1,"method":"m","n":1.0}'));
	t.is(body.method, 'm');
	t.is(withBody({...body, method: 'o'}).bytes.toString(), '{"id":1,"method":"o","n":1.0}');
});
