import {buildListedRow} from './listed-row.js';
import type {LogIndex} from './log-index.js';
import type {LineDetail} from './page/types.js';

/** The maximum displayed part of a line. Exports are complete. */
const MAX_SHOWN_BYTES = 2 * 2 ** 20;

/** Reads a line of the log. Returns undefined if the row does not exist. */
export function readLineDetail(index: LogIndex, row: number): LineDetail | undefined {
	if (row >= index.columns.count) return;
	const {offset, bytes} = index.columns.at(row);
	const text = index.bytes.slice(offset, Math.min(bytes, MAX_SHOWN_BYTES)).toString('utf8');
	return {row: buildListedRow(index, row), text, bytes, isCut: bytes > MAX_SHOWN_BYTES};
}
