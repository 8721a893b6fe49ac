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

test('keeps the exact line of a received message', t => {
	const line = Buffer.from(' {"jsonrpc":"2.0","id":1.0,"method":"a"}\n');
	const envelope = Envelope.received(line, origin);
	t.is(envelope.head.method, 'a');
	t.is(envelope.body.method, 'a');
	t.is(envelope.line, line);
	t.is(envelope.origin, origin);
	t.true(envelope.isReceived);
	t.is(envelope.original, envelope);
});

test('excludes the line feed from bytes and size', t => {
	const envelope = received('{"a":"é"}\n');
	t.is(envelope.bytes.toString(), '{"a":"é"}');
	t.is(envelope.size, 10);
});

test('accepts a line without a line feed', t => {
	t.is(received('{"a":1}').size, 7);
});

test('scans the head once', t => {
	const envelope = received('{"jsonrpc":"2.0","method":"a"}\n');
	t.is(envelope.head, envelope.head);
});

test('parses the body once', t => {
	const envelope = received('{"jsonrpc":"2.0","method":"a"}\n');
	t.is(envelope.body, envelope.body);
});

test('reads the head of arbitrary bytes without an error', t => {
	fc.assert(
		fc.property(fc.uint8Array({maxLength: 100}), bytes => {
			const {flaw} = Envelope.received(Buffer.from(bytes), origin).head;
			return flaw !== undefined;
		}),
		{numRuns: 1000},
	);
	t.pass();
});

test('creates an envelope for a message over the limit, with its id if it was found', t => {
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

test('serializes a message that bridge creates as one line', t => {
	const envelope = Envelope.of({jsonrpc: '2.0', method: 'a\nb'}, origin);
	t.is(envelope.line.toString(), '{"jsonrpc":"2.0","method":"a\\nb"}\n');
	t.is(envelope.head.method, 'a\nb');
	t.false(envelope.isReceived);
	t.is(envelope.origin, origin);
});

test('uses bridgeOrigin by default', t => {
	t.is(Envelope.of({}).origin, bridgeOrigin);
	t.is(Envelope.fromText('{}').origin, bridgeOrigin);
	t.is(Envelope.errorResponse('1', error).origin, bridgeOrigin);
});

test('keeps the spelling of a message created from text', t => {
	const envelope = Envelope.fromText('{"id":1.0}', origin);
	t.is(envelope.line.toString(), '{"id":1.0}\n');
	t.false(envelope.isReceived);
	t.is(envelope.origin, origin);
});

test('keeps the spelling of the id in an error response [A8]', t => {
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

test('uses the id null in an error response to a message without an id', t => {
	t.is(Envelope.errorResponse(undefined, error).body.id, null);
});

test('creates a new envelope for another body and keeps the first one unchanged', t => {
	const first = received('{"jsonrpc":"2.0","id": 1.0,"method":"a"}\n');
	const second = first.with({...first.body, method: 'b'});
	t.is(second.line.toString(), '{"jsonrpc":"2.0","id":1,"method":"b"}\n');
	t.is(second.head.method, 'b');
	t.is(second.origin, origin);
	t.is(second.original, first);
	t.false(second.isReceived);
	t.is(first.line.toString(), '{"jsonrpc":"2.0","id": 1.0,"method":"a"}\n');
});

test('reads a message in parts like a whole one, and joins the parts on first use of the line', t => {
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

test('keeps the original across several changes', t => {
	const first = received('{"jsonrpc":"2.0","id":1,"method":"a"}\n');
	t.is(first.withId('2').with({a: 1}).withId('3').original, first);
});

test('changes no other byte when the id is replaced', t => {
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

test('treats the key __proto__ as data [A15]', t => {
	const text =
		'{"jsonrpc":"2.0","method":"a","params":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
	const envelope = received(`${text}\n`);
	const changed = envelope.with({...envelope.body});
	t.is(Reflect.get({}, 'polluted'), undefined);
	t.is(changed.bytes.toString(), text);
});

test('forwards a message with another id in its parts, and reuses the scanned head', t => {
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
			const forwarded = envelope.forwardedAs(to, next);
			t.is(forwarded.parts === undefined, isWhole);
			const {marks: _marks, ...head} = received(text(next)).head;
			t.like(forwarded.head, head);
			// Numbers keep their spelling when the message is changed again.
			const changed = createDraft(forwarded).with({...createDraft(forwarded).body, y: 1});
			if (!next.startsWith('"')) t.is(changed.head.id, next);
			t.is(forwarded.line.toString(), text(next));
			t.is(forwarded.origin, to);
			t.true(forwarded.isReceived && forwarded.original === forwarded);
			t.is(envelope.forwardedAs(to).line.toString(), text(old));
		}),
		{numRuns: 300},
	);
});

test('rejects a binary message even if it contains JSON', t => {
	const envelope = Envelope.notText(Buffer.from('{"jsonrpc":"2.0","method":"a"}'), origin);
	t.is(envelope.head.flaw, 'not JSON');
	t.is(envelope.origin, origin);
});
