import {buildListedRow} from './listed-row.js';
import type {LogIndex} from './log-index.js';
import type {LineDetail} from './page/types.js';

/** More of a line is not shown, but can be saved. */
const MAX_SHOWN_BYTES = 2 * 2 ** 20;

/** A line as it stands in the log. Nothing where there is no such row. */
export function readLineDetail(index: LogIndex, row: number): LineDetail | undefined {
	if (row >= index.columns.count) return;
	const {offset, bytes} = index.columns.at(row);
	const text = index.bytes.slice(offset, Math.min(bytes, MAX_SHOWN_BYTES)).toString('utf8');
	return {row: buildListedRow(index, row), text, bytes, isCut: bytes > MAX_SHOWN_BYTES};
}
