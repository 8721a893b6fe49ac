import test from 'ava';
import {createDraft, editMessage} from '../../lib/core/edit-message.js';
import {bridgeOrigin, Envelope} from '../../lib/core/envelope.js';
import {objectOf} from '../../lib/util/json.js';

const received = (text: string): Envelope => Envelope.received(Buffer.from(`${text}\n`), bridgeOrigin);
const withA = (envelope: Envelope): string =>
	editMessage(envelope, body => ({...body, a: 1})).bytes.toString();

test('a change that is none leaves the very message', t => {
	for (const text of ['{"id":1, "n":1}', '{"id":1, "n":1.0}']) {
		const envelope = received(text);
		t.is(
			editMessage(envelope, body => body),
			envelope,
		);
	}
});

test('a changed message remembers what it was', t => {
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
	test(`${number} is written as it was`, t => {
		t.is(
			withA(received(`{"id":${number},"n":[${number},{"m":${number}}]}`)),
			`{"id":${number},"n":[${number},{"m":${number}}],"a":1}`,
		);
	});

test('numbers can be moved and left out', t => {
	const changed = editMessage(received('{"id":1,"x":1.0,"y":2.0,"z":3.50}'), ({x, z}) => ({z, other: {x}}));
	t.is(changed.bytes.toString(), '{"z":3.50,"other":{"x":1.0}}');
});

test('digits in strings and keys are no numbers', t => {
	const text = '{"1.0":"2.0","a\\"3.0":"\\\\","n":1.0}';
	t.is(withA(received(text)), `${text.slice(0, -1)},"a":1}`);
});

test('a string that reads like a hidden number once its escapes are read stays a string', t => {
	const changed = withA(received('{"n":1.0,"s":"\\u0000n\\u0075mber 0"}'));
	t.is(objectOf(JSON.parse(changed)).s, '\u0000number 0');
});

test('a draft can be read before it is written', t => {
	const {body, with: as} = createDraft(received('{"id":1,"method":"m","n":1.0}'));
	t.is(body.method, 'm');
	t.is(as({...body, method: 'o'}).bytes.toString(), '{"id":1,"method":"o","n":1.0}');
});
