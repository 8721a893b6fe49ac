import {createReadStream} from 'node:fs';
import {BOM} from '../wire/line-splitter.js';

/** Maximum length of a line. */
const MAX_LINE = 512 * 2 ** 20;
const READ_BYTES = 2 ** 20;
const LF = 0x0a;

/** A line without its line feed, and its offset in the file. */
export type PositionedLine = {readonly bytes: Buffer; readonly start: number};

/**
 * Reads the lines of a file, in one batch per read. A line over the limit is replaced by an invalid one, so
 * that it counts as broken.
 */
export async function* readPositionedLines(
	path: string,
	onRead: (bytes: number) => void,
): AsyncGenerator<PositionedLine[]> {
	let parts: Buffer[] = [];
	let length = 0;
	let start = 0;
	const line = (): PositionedLine => {
		const bytes = length > MAX_LINE ? Buffer.from('…') : parts.length === 1 ? parts[0] : Buffer.concat(parts);
		const hasByteOrderMark = start === 0 && bytes?.subarray(0, BOM.length).equals(BOM) === true;
		const skipped = hasByteOrderMark ? BOM.length : 0;
		const found = {bytes: (bytes as Buffer).subarray(skipped), start: start + skipped};
		start += length + 1;
		parts = [];
		length = 0;
		return found;
	};
	const add = (part: Buffer): void => {
		length += part.length;
		if (length <= MAX_LINE) parts.push(part);
		else parts = [];
	};
	for await (const chunk of createReadStream(path, {highWaterMark: READ_BYTES}) as AsyncIterable<Buffer>) {
		const found: PositionedLine[] = [];
		let at = 0;
		for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, at)) {
			add(chunk.subarray(at, end));
			found.push(line());
			at = end + 1;
		}
		if (at < chunk.length) add(chunk.subarray(at));
		onRead(chunk.length);
		yield found;
	}
	if (length > 0) yield [line()];
}
