import test from 'ava';
import {IndexColumns, IndexSegment, rowKinds, SEGMENT_ROWS} from '../../lib/view/index-columns.js';
import {latencyOverTime, SLICE_ROWS} from '../../lib/view/latency-over-time.js';

/** Columns of requests. Each is followed by its response 5 µs later. */
function columnsOf(rows: number): IndexColumns {
	const columns = new IndexColumns();
	for (let at = 0; at < rows; at += SEGMENT_ROWS) columns.segments.push(new IndexSegment());
	columns.count = rows;
	for (let row = 0; row < rows; row++) {
		const isRequest = row % 2 === 0;
		columns.set(row, 'kind', isRequest ? rowKinds.request : rowKinds.result);
		columns.set(row, 'time', 1e15 + row * 10 - (isRequest ? 0 : 5));
		columns.set(row, 'pair', isRequest ? row + 2 : row);
	}
	return columns;
}

const all = (count: number) => ({count, row: (at: number) => at});

for (const ofRequests of [false, true])
	test(`counts latencies of ${ofRequests ? 'requests' : 'a long log'} in slices and yields between them [SEC-D11]`, async t => {
		const slices = 8;
		const columns = columnsOf(slices * SLICE_ROWS);
		let [turns, isDone] = [0, false];
		const turn = (): void => {
			turns++;
			if (!isDone) setImmediate(turn);
		};
		setImmediate(turn);
		const found = await latencyOverTime({columns}, all(columns.count), {parts: 4, ofRequests});
		isDone = true;
		t.true(turns >= slices - 1, `${turns}`);
		const stretches = found?.stretches ?? [];
		t.is(stretches.length, 4);
		t.is(
			stretches.reduce((sum, {count}) => sum + count, 0),
			columns.count / 2,
		);
		t.true(stretches.every(({max, median}) => max === 5 && median <= 5));
	});

test('stops counting latencies when the client disconnects [SEC-D11]', async t => {
	const columns = columnsOf(4 * SLICE_ROWS);
	let read = 0;
	const row = (at: number): number => {
		read++;
		return at;
	};
	const isWanted = (): boolean => read === 0;
	const options = {parts: 4, ofRequests: false, isWanted};
	t.is(await latencyOverTime({columns}, {count: columns.count, row}, options), undefined);
	t.is(read, SLICE_ROWS);
});

test('skips a response in a row that is not known yet [SEC-D11]', async t => {
	const columns = columnsOf(SEGMENT_ROWS);
	columns.set(0, 'pair', 5 * SEGMENT_ROWS);
	const found = await latencyOverTime({columns}, all(columns.count), {parts: 1, ofRequests: true});
	t.is(found?.stretches[0]?.count, SEGMENT_ROWS / 2 - 1);
});
