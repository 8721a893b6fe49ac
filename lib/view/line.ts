import type {LogIndex} from './log-index.js';
import type {Line} from './page/types.js';
import {listedRow} from './row-text.js';

/** More of a line is not shown, but can be saved. */
const MAX_SHOWN = 2 * 2 ** 20;

/** A line as it stands in the log. Nothing where there is no such row. */
export function lineOf(index: LogIndex, row: number): Line | undefined {
	if (row >= index.columns.count) return;
	const {offset, bytes} = index.columns.at(row);
	const text = index.bytes.slice(offset, Math.min(bytes, MAX_SHOWN)).toString('utf8');
	return {row: listedRow(index, row), text, bytes, isCut: bytes > MAX_SHOWN};
}
