import test from 'ava';
import fc from 'fast-check';
import {ConnectionDecoder, connectionIdOf, type DecodeDirection} from '../../lib/traffic-log/decode.js';
import {encodePercentText} from '../../lib/wire/percent-text.js';

const line = (members: object): Buffer => Buffer.from(`${JSON.stringify({time: 'T', ...members})}\n`);
const data = (ConnID: string, bytes: Uint8Array, [from, to]: readonly [string, string]): Buffer =>
	line({ConnID, data: encodePercentText(bytes), from, to});
const [asked, answered] = [
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

test('finds what each side has said, whatever bytes that were, among lines of other connections', t => {
	const chunk = fc.record({isMine: fc.boolean(), isAsked: fc.boolean(), bytes: fc.uint8Array()});
	fc.assert(
		fc.property(fc.array(chunk), chunks => {
			const lines = [
				open('a'),
				open('b'),
				...chunks.map(({isMine, isAsked, bytes}) =>
					data(isMine ? 'a' : 'b', bytes, isAsked ? asked : answered),
				),
				close('a'),
			];
			const said = (wanted: readonly boolean[]): Buffer =>
				Buffer.concat(
					chunks.filter(({isMine, isAsked}) => isMine && wanted.includes(isAsked)).map(({bytes}) => bytes),
				);
			t.true(decoded(lines, 'from').bytes.equals(said([true])));
			t.true(decoded(lines, 'to').bytes.equals(said([false])));
			t.true(decoded(lines).bytes.equals(said([true, false])));
		}),
		{numRuns: 50},
	);
});

test('takes who speaks first for the client where the log begins later', t => {
	const lines = [data('a', Buffer.of(1), asked), data('a', Buffer.of(2), answered)];
	t.deepEqual([...decoded(lines, 'from').bytes], [1]);
});

test('counts lines that are missing while the connection was open, and no others', t => {
	const gap = line({event: 'gap', lines: 3, bytes: 10});
	const {decoder} = decoded([gap, open('a'), gap, close('a'), gap]);
	t.is(decoder.missing.gapLines, 3);
});

test('counts lines that are missing before the first one, where that is not the beginning', t => {
	const gap = line({event: 'gap', lines: 3, bytes: 10});
	const {decoder} = decoded([gap, data('a', Buffer.of(1), answered)]);
	t.like(decoder.missing, {gapLines: 3, presumedClient: 'target', hasCloseEvent: false});
});

test('knows the client of a connection of which only the close is there', t => {
	t.like(decoded([close('a')]).decoder.missing, {presumedClient: 'client', hasCloseEvent: true});
});

test('misses nothing of a connection that is there from its beginning to its end', t => {
	const {decoder} = decoded([open('b'), open('a'), data('a', Buffer.of(1), asked), close('a'), close('b')]);
	t.deepEqual(decoder.missing, {gapLines: 0, brokenLines: 0, presumedClient: undefined, hasCloseEvent: true});
});

test('counts lines that cannot be read', t => {
	const {decoder} = decoded([open('a'), Buffer.from('{"torn'), Buffer.from('[]\n')]);
	t.is(decoder.missing.brokenLines, 2);
});

test('counts no line as broken that belongs to another connection', t => {
	const torn = open('b').subarray(0, -20);
	t.is(decoded([open('a'), torn]).decoder.missing.brokenLines, 0);
	t.is(decoded([open('a'), open('a').subarray(0, -20)]).decoder.missing.brokenLines, 1);
});

test('says whether there was such a connection', t => {
	t.false(decoded([open('b')]).decoder.isFound);
	t.true(decoded([open('a')]).decoder.isFound);
});

test('reads the id of a connection wherever it stands', t => {
	t.is(connectionIdOf(open('xyz')), 'xyz');
	t.is(connectionIdOf(line({pad: 'x'.repeat(200), ConnID: 'late'})), 'late');
	t.is(connectionIdOf(line({event: 'mcp-ready'})), undefined);
	t.is(connectionIdOf(Buffer.from('nothing')), undefined);
});
