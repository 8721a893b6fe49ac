import test from 'ava';
import fc from 'fast-check';
import {createDraft} from '../../lib/core/edit-message.js';
import {bridgeOrigin, Envelope, type MessageOrigin} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import {Valve} from '../../lib/core/valve.js';
import {blank, jsonText, numberText, stringText} from '../wire/arbitraries.js';
import {piecesOf} from '../wire/cutting.js';

const origin: MessageOrigin = {name: 'client', valve: new Valve()};
const received = (text: string): Envelope => Envelope.received(Buffer.from(text), origin);

const error = new BridgeError('ERR_UPSTREAM_TIMEOUT', 'It took too long.', 'Try again.');

test('a received message keeps the very line it came as', t => {
	const line = Buffer.from(' {"jsonrpc":"2.0","id":1.0,"method":"a"}\n');
	const envelope = Envelope.received(line, origin);
	t.is(envelope.head.method, 'a');
	t.is(envelope.body.method, 'a');
	t.is(envelope.line, line);
	t.is(envelope.origin, origin);
	t.true(envelope.isReceived);
	t.is(envelope.original, envelope);
});

test('its bytes and its size are those without the line feed', t => {
	const envelope = received('{"a":"é"}\n');
	t.is(envelope.bytes.toString(), '{"a":"é"}');
	t.is(envelope.size, 10);
});

test('a line without line feed is all message', t => {
	t.is(received('{"a":1}').size, 7);
});

test('the head is read once', t => {
	const envelope = received('{"jsonrpc":"2.0","method":"a"}\n');
	t.is(envelope.head, envelope.head);
});

test('the body is parsed once', t => {
	const envelope = received('{"jsonrpc":"2.0","method":"a"}\n');
	t.is(envelope.body, envelope.body);
});

test('the head of any bytes is read without an error', t => {
	fc.assert(
		fc.property(fc.uint8Array({maxLength: 100}), bytes => {
			const {flaw} = Envelope.received(Buffer.from(bytes), origin).head;
			return flaw !== undefined;
		}),
		{numRuns: 1000},
	);
	t.pass();
});

test('what is left of a message over the limit says so, with the id where it was seen', t => {
	const envelope = Envelope.tooLarge(
		Buffer.from('{"jsonrpc":"2.0","id":1.0,"me'),
		{id: '1.0', isResponse: false},
		origin,
	);
	t.like(envelope.head, {flaw: 'too large', id: '1.0', key: '1', method: undefined});
	t.is(envelope.bytes.toString(), '{"jsonrpc":"2.0","id":1.0,"me');
	t.true(envelope.isReceived);
	t.is(Envelope.tooLarge(Buffer.from('{'), {id: undefined, isResponse: false}, origin).head.id, undefined);
});

test('a message that bridge makes is written as JSON in one line', t => {
	const envelope = Envelope.of({jsonrpc: '2.0', method: 'a\nb'}, origin);
	t.is(envelope.line.toString(), '{"jsonrpc":"2.0","method":"a\\nb"}\n');
	t.is(envelope.head.method, 'a\nb');
	t.false(envelope.isReceived);
	t.is(envelope.origin, origin);
});

test('a message that nobody caused is of no origin that could be stopped', t => {
	t.is(Envelope.of({}).origin, bridgeOrigin);
	t.is(Envelope.fromText('{}').origin, bridgeOrigin);
	t.is(Envelope.errorResponse('1', error).origin, bridgeOrigin);
});

test('a message made of text keeps its spelling', t => {
	const envelope = Envelope.fromText('{"id":1.0}', origin);
	t.is(envelope.line.toString(), '{"id":1.0}\n');
	t.false(envelope.isReceived);
	t.is(envelope.origin, origin);
});

test('a failure answers under the id as it was written [A8]', t => {
	for (const id of ['1.0', '12345678901234567890', '"\\u0061"', '""', '-0']) {
		const envelope = Envelope.errorResponse(id, error, origin);
		t.like(envelope.head, {id, hasError: true, hasResult: false, method: undefined, flaw: undefined});
		t.deepEqual(envelope.body.error, {
			code: -31002,
			message: 'It took too long. Try again.',
			data: {source: 'bridge', kind: 'timeout'},
		});
		t.is(envelope.origin, origin);
	}
});

test('a failure of something without id has the id null', t => {
	t.is(Envelope.errorResponse(undefined, error).body.id, null);
});

test('another body makes another message of the same origin, and leaves the first as it was', t => {
	const first = received('{"jsonrpc":"2.0","id": 1.0,"method":"a"}\n');
	const second = first.with({...first.body, method: 'b'});
	t.is(second.line.toString(), '{"jsonrpc":"2.0","id":1,"method":"b"}\n');
	t.is(second.head.method, 'b');
	t.is(second.origin, origin);
	t.is(second.original, first);
	t.false(second.isReceived);
	t.is(first.line.toString(), '{"jsonrpc":"2.0","id": 1.0,"method":"a"}\n');
});

test('a message in parts is what it is in one, and stays in parts until somebody needs it in one', t => {
	const text = '{"jsonrpc":"2.0","id":"ä","method":"tools/call","params":{"name":"a","text":"\\u00e9 😀"}}\n';
	const whole = received(text);
	fc.assert(
		fc.property(fc.array(fc.nat({max: Buffer.byteLength(text)}), {maxLength: 5}), places => {
			const cuts = places.sort((one, other) => one - other);
			const parts = piecesOf(Buffer.from(text), cuts);
			const envelope = Envelope.receivedInParts(parts, origin);
			t.is(envelope.size, whole.size);
			t.deepEqual(envelope.head, whole.head);
			t.is(envelope.parts, parts);
			t.is(envelope.line.toString(), text);
			t.is(envelope.parts, undefined);
			t.is(envelope.size, whole.size);
			t.deepEqual(envelope.body, whole.body);
		}),
		{numRuns: 200},
	);
});

test('a message changed twice still knows what it was at first', t => {
	const first = received('{"jsonrpc":"2.0","id":1,"method":"a"}\n');
	t.is(first.withId('2').with({a: 1}).withId('3').original, first);
});

test('another id changes no other byte', t => {
	const member = fc.tuple(
		stringText.filter(text => !/id|method|jsonrpc|params|result|error/.test(text)),
		jsonText(blank),
	);
	const id = fc.oneof(numberText, stringText);
	fc.assert(
		fc.property(id, id, member, blank, (old, next, [key, value], gap) => {
			const text = (token: string): string =>
				`${gap}{"jsonrpc":"2.0",${gap}"id"${gap}:${gap}${token}${gap},"method":"a","params":{${key}:${value}},"x":${old}}${gap}\n`;
			const envelope = received(text(old));
			t.is(envelope.withId(next).line.toString(), text(next));
			t.is(envelope.withId(next).head.id, next);
			t.is(envelope.line.toString(), text(old));
		}),
		{numRuns: 500},
	);
});

test('a key __proto__ is data like any other, and changes no prototype [A15]', t => {
	const text =
		'{"jsonrpc":"2.0","method":"a","params":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
	const envelope = received(`${text}\n`);
	const changed = envelope.with({...envelope.body});
	t.is(Reflect.get({}, 'polluted'), undefined);
	t.is(changed.bytes.toString(), text);
});

test('a message is relayed under another id in the parts that it came in, and all that is known of it is so of the copy', t => {
	const to: MessageOrigin = {name: 'other', valve: new Valve()};
	const id = fc.oneof(numberText, stringText);
	fc.assert(
		fc.property(id, id, fc.nat(60), fc.nat(60), fc.boolean(), (old, next, one, two, isWhole) => {
			const text = (token: string): string => `{"jsonrpc":"2.0","result":{"id":1},"id": ${token} ,"x":"ü"}\n`;
			const bytes = Buffer.from(text(old));
			const [first, second] = [Math.min(one, two), Math.max(one, two)]
				.map(at => at % bytes.length)
				.sort((a, b) => a - b);
			const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
			const envelope = isWhole ? received(text(old)) : Envelope.receivedInParts(parts, origin);
			const relayed = envelope.forwardedAs(to, next);
			t.is(relayed.parts === undefined, isWhole);
			const {marks: _marks, ...head} = received(text(next)).head;
			t.like(relayed.head, head);
			// Numbers keep their spelling when the message is changed further.
			const changed = createDraft(relayed).with({...createDraft(relayed).body, y: 1});
			if (!next.startsWith('"')) t.is(changed.head.id, next);
			t.is(relayed.line.toString(), text(next));
			t.is(relayed.origin, to);
			t.true(relayed.isReceived && relayed.original === relayed);
			t.is(envelope.forwardedAs(to).line.toString(), text(old));
		}),
		{numRuns: 300},
	);
});

test('what is no text is no message, whatever is written in it', t => {
	const envelope = Envelope.notText(Buffer.from('{"jsonrpc":"2.0","method":"a"}'), origin);
	t.is(envelope.head.flaw, 'not JSON');
	t.is(envelope.origin, origin);
});
