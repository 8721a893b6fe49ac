import test from 'ava';
import {bridgeOrigin} from '../../lib/core/envelope.js';
import {envelopeFromMessage} from '../../lib/core/whole-message.js';

const text = (message: string): string =>
	String(envelopeFromMessage(Buffer.from(message), bridgeOrigin).line);

test('appends a line feed to a message', t => {
	t.is(text('{"jsonrpc":"2.0","method":"a"}'), '{"jsonrpc":"2.0","method":"a"}\n');
});

test('skips a byte order mark [A7]', t => {
	t.is(text('\ufeff{"a":1}'), '{"a":1}\n');
});

test('replaces line breaks between tokens by blanks, and rejects line breaks in strings', t => {
	t.is(text('{\r\n"a":\n1}\n'), '{  "a": 1} \n');
	t.is(
		envelopeFromMessage(Buffer.from('{"jsonrpc":"2.0","method":"a\nb"}'), bridgeOrigin).head.flaw,
		'not JSON',
	);
});

test('does not copy a long message [A3]', t => {
	const bytes = Buffer.from(`{"jsonrpc":"2.0","id":5,"method":"${'x'.repeat(300_000)}"}`);
	const envelope = envelopeFromMessage(bytes, bridgeOrigin);
	t.is(envelope.parts?.[0]?.buffer, bytes.buffer);
	t.like(envelope.head, {id: '5', flaw: undefined});
	t.true(envelope.bytes.equals(bytes));
});
