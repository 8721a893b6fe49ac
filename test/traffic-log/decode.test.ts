import test from 'ava';
import fc from 'fast-check';
import {ConnectionDecoder, connectionIdOf, type DecodeDirection} from '../../lib/traffic-log/decode.js';
import {encodePercentText} from '../../lib/wire/percent-text.js';

const line = (members: object): Buffer => Buffer.from(`${JSON.stringify({time: 'T', ...members})}\n`);
const data = (ConnID: string, bytes: Uint8Array, [from, to]: readonly [string, string]): Buffer =>
	line({ConnID, data: encodePercentText(bytes), from, to});
const [fromClient, fromTarget] = [
	['client', 'target'],
	['target', 'client'],
] as const;
const open = (ConnID: string): Buffer => line({ConnID, event: 'open', from: 'client', to: 'target'});
const close = (ConnID: string): Buffer => line({ConnID, event: 'close', from: 'target', to: 'client'});

function decoded(lines: readonly Buffer[], direction?: DecodeDirection) {
	const decoder = new ConnectionDecoder('a', direction);
	const bytes = Buffer.concat(lines.flatMap(one => decoder.decode(one) ?? []));
	return {decoder, bytes};
}

test('decodes arbitrary bytes of each side, among lines of other connections', t => {
	const chunk = fc.record({isMine: fc.boolean(), isFromClient: fc.boolean(), bytes: fc.uint8Array()});
	fc.assert(
		fc.property(fc.array(chunk), chunks => {
			const lines = [
				open('a'),
				open('b'),
				...chunks.map(({isMine, isFromClient, bytes}) =>
					data(isMine ? 'a' : 'b', bytes, isFromClient ? fromClient : fromTarget),
				),
				close('a'),
			];
			const expected = (directions: readonly boolean[]): Buffer =>
				Buffer.concat(
					chunks
						.filter(({isMine, isFromClient}) => isMine && directions.includes(isFromClient))
						.map(({bytes}) => bytes),
				);
			t.true(decoded(lines, 'from').bytes.equals(expected([true])));
			t.true(decoded(lines, 'to').bytes.equals(expected([false])));
			t.true(decoded(lines).bytes.equals(expected([true, false])));
		}),
		{numRuns: 50},
	);
});

test('presumes that the first sender is the client if the open event is missing', t => {
	const lines = [data('a', Buffer.of(1), fromClient), data('a', Buffer.of(2), fromTarget)];
	t.deepEqual([...decoded(lines, 'from').bytes], [1]);
});

test('counts dropped lines only while the connection is open', t => {
	const gap = line({event: 'gap', lines: 3, bytes: 10});
	const {decoder} = decoded([gap, open('a'), gap, close('a'), gap]);
	t.is(decoder.missing.gapLines, 3);
});

test('counts dropped lines before the first line if the open event is missing', t => {
	const gap = line({event: 'gap', lines: 3, bytes: 10});
	const {decoder} = decoded([gap, data('a', Buffer.of(1), fromTarget)]);
	t.like(decoder.missing, {gapLines: 3, presumedClient: 'target', hasCloseEvent: false});
});

test('finds the client in the close event if all else is missing', t => {
	t.like(decoded([close('a')]).decoder.missing, {presumedClient: 'client', hasCloseEvent: true});
});

test('reports a complete connection as complete', t => {
	const {decoder} = decoded([
		open('b'),
		open('a'),
		data('a', Buffer.of(1), fromClient),
		close('a'),
		close('b'),
	]);
	t.deepEqual(decoder.missing, {gapLines: 0, brokenLines: 0, presumedClient: undefined, hasCloseEvent: true});
});

test('counts lines that cannot be parsed', t => {
	const {decoder} = decoded([open('a'), Buffer.from('{"torn'), Buffer.from('[]\n')]);
	t.is(decoder.missing.brokenLines, 2);
});

test('does not count broken lines of other connections', t => {
	const torn = open('b').subarray(0, -20);
	t.is(decoded([open('a'), torn]).decoder.missing.brokenLines, 0);
	t.is(decoded([open('a'), open('a').subarray(0, -20)]).decoder.missing.brokenLines, 1);
});

test('reports whether the connection was found', t => {
	t.false(decoded([open('b')]).decoder.isFound);
	t.true(decoded([open('a')]).decoder.isFound);
});

test('finds the connection id anywhere in a line', t => {
	t.is(connectionIdOf(open('xyz')), 'xyz');
	t.is(connectionIdOf(line({pad: 'x'.repeat(200), ConnID: 'late'})), 'late');
	t.is(connectionIdOf(line({event: 'mcp-ready'})), undefined);
	t.is(connectionIdOf(Buffer.from('nothing')), undefined);
});
