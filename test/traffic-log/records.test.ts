import test from 'ava';
import fc from 'fast-check';
import {encodeRecord, RecordWriter, splitByFile, type TrafficLine} from '../../lib/traffic-log/records.js';
import {decodePercentText} from '../../lib/wire/percent-text.js';

const TIME = Date.UTC(2026, 10, 16, 1, 2, 3) * 1000 + 456_789;
const line = (data: Uint8Array): TrafficLine => ({
	head: Buffer.from('","data":"'),
	data: Buffer.from(data),
	tail: Buffer.from('","from":"a"}\n'),
});

/** All lines that a writer makes of blocks, and the number of calls. */
function writeAll(writer: RecordWriter, blocks: Buffer[]): {text: string; takes: number} {
	let text = '';
	let takes = 0;
	for (; blocks.length > 0; takes++) text += writer.drain(blocks).toString('latin1');
	return {text, takes};
}

test('formats a record as its time, its head, its escaped data and its tail', t => {
	const {text} = writeAll(new RecordWriter(), [encodeRecord(TIME, line(Buffer.from('a%\n')))]);
	t.is(text, '{"time":"2026-11-16T01:02:03.456789Z","data":"a%25\\n","from":"a"}\n');
});

test('formats a record without data', t => {
	const {text} = writeAll(new RecordWriter(), [encodeRecord(TIME, {head: Buffer.from('","event":"x"}\n')})]);
	t.deepEqual(JSON.parse(text), {time: '2026-11-16T01:02:03.456789Z', event: 'x'});
});

test('formats arbitrary data in order, for any size of the output', t => {
	const blocks = fc.array(fc.array(fc.uint8Array({maxLength: 300}), {minLength: 1, maxLength: 5}), {
		maxLength: 5,
	});
	fc.assert(
		fc.property(blocks, fc.integer({min: 1, max: 3000}), (chunkLists, size) => {
			const done: number[] = [];
			const packed = chunkLists.map(datas =>
				Buffer.concat(datas.map(data => encodeRecord(TIME, line(data)))),
			);
			const total = packed.reduce((sum, {length}) => sum + length, 0);
			const {text} = writeAll(new RecordWriter(block => void done.push(block.length), size), [...packed]);
			const lines = text.split('\n').slice(0, -1);
			const read = lines.map(one => decodePercentText(JSON.parse(one).data));
			t.deepEqual(
				read.map(data => data.toString('hex')),
				chunkLists.flat().map(data => Buffer.from(data).toString('hex')),
			);
			t.is(done.length, chunkLists.length);
			t.true(done.reduce((sum, length) => sum + length, 0) <= total);
		}),
		{numRuns: 50},
	);
});

test('formats a line that is longer than the output', t => {
	const {text, takes} = writeAll(new RecordWriter(() => {}, 100), [
		encodeRecord(TIME, line(Buffer.alloc(10))),
		encodeRecord(TIME, line(Buffer.alloc(10_000))),
	]);
	t.is(text.match(/%00/g)?.length, 10_010);
	t.is(takes, 2);
});

test('splits records by file and keeps their order', t => {
	const times = [1, 1, 2, 1, 1, 1];
	const block = Buffer.concat(times.map(time => encodeRecord(time, line(Buffer.of(time)))));
	const runs = [...splitByFile(block, time => `file ${time}`)];
	t.deepEqual(
		runs.map(({file, lines, time}) => [file, lines, time]),
		[
			['file 1', 2, 1],
			['file 2', 1, 2],
			['file 1', 3, 1],
		],
	);
	t.deepEqual(runs.map(({start}) => start).slice(1), runs.map(({end}) => end).slice(0, -1));
	t.deepEqual([...splitByFile(Buffer.alloc(0), String)], []);
});
