import {asciiJson} from '../util/ascii-json.js';
import {rowKinds} from './index-columns.js';
import type {LogIndex} from './log-index.js';

const READ_BYTES = 2 ** 20;

/**
 * Returns a pattern that matches the JSON spellings of a text in Latin-1 decoded bytes. Special characters
 * are escaped.
 */
function searchPattern(text: string): {readonly pattern: RegExp; readonly maxBytes: number} {
	const plain = JSON.stringify(text).slice(1, -1);
	const spellings = [...new Set([plain, asciiJson(text).slice(1, -1)])].map(each =>
		Buffer.from(each).toString('latin1'),
	);
	const escaped = spellings.map(each => each.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
	return {
		pattern: new RegExp(escaped.join('|'), 'gi'),
		maxBytes: Math.max(...spellings.map(({length}) => length)),
	};
}

/** Finds the rows that contain a text by reading the log in blocks. */
export class TextSearch {
	readonly #index: LogIndex;
	readonly #pattern: RegExp;
	readonly #maxBytes: number;
	/** The searched bytes. */
	#position = 0;
	/** The row of the last match. One match per row is enough. */
	#lastRow = -1;

	constructor(index: LogIndex, text: string) {
		const {pattern, maxBytes} = searchPattern(text);
		this.#index = index;
		this.#pattern = pattern;
		this.#maxBytes = maxBytes;
	}

	get position(): number {
		return this.#position;
	}

	/** Searches the next block of the indexed part. Returns the matching rows, or undefined at the end. */
	step(): number[] | undefined {
		const {columns, bytes, progress} = this.#index;
		const end = progress.readBytes - progress.tailBytes;
		if (this.#position >= end || columns.count === 0) return;
		// Blocks overlap, so that a match across their boundary is found.
		const from = Math.max(0, this.#position - this.#maxBytes + 1);
		const text = bytes.slice(from, Math.min(READ_BYTES, end - from)).toString('latin1');
		if (text === '') return;
		this.#position = from + text.length;
		return [...this.#rowsIn(text, from)];
	}

	*#rowsIn(text: string, from: number): Generator<number> {
		const {columns} = this.#index;
		const pattern = this.#pattern;
		pattern.lastIndex = 0;
		for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
			const offset = from + found.index;
			const row = columns.rowAt(offset);
			const isNew = row > this.#lastRow && this.#isContent(row, offset);
			if (!isNew) continue;
			this.#lastRow = row;
			yield row;
			// Skips the rest of the line.
			const next = row + 1 < columns.count ? columns.value(row + 1, 'offset') - from : text.length;
			pattern.lastIndex = Math.max(pattern.lastIndex, Math.min(next, text.length));
		}
	}

	/** Whether an offset is within the message or data of a line. */
	#isContent(row: number, offset: number): boolean {
		const {bytes, size, content, kind, offset: start} = this.#index.columns.at(row);
		if (kind === rowKinds.broken || kind === rowKinds.event) return true;
		const at = offset - start - content;
		return at >= 0 && (kind === rowKinds.data ? offset < start + bytes : at < size);
	}
}
