import {asciiJson} from '../util/ascii-json.js';
import {rowKinds} from './index-columns.js';
import type {LogIndex} from './log-index.js';

const READ_BYTES = 2 ** 20;

/** A text as it may be written in JSON, as a pattern for bytes as Latin-1. All syntax in it is escaped. */
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

/** Finds the rows that have a text in them, by reading the log itself, piece by piece. */
export class TextSearch {
	readonly #index: LogIndex;
	readonly #pattern: RegExp;
	readonly #maxBytes: number;
	/** How far the log has been searched. */
	#position = 0;
	/** The row that the last text was found in: one is enough. */
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

	/** Searches one more piece of what is indexed. Gives the rows that were found, or nothing where there is no more. */
	step(): number[] | undefined {
		const {columns, bytes, progress} = this.#index;
		const end = progress.readBytes - progress.tailBytes;
		if (this.#position >= end || columns.count === 0) return;
		// What begins in one piece and ends in the next one is found in the next.
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
			// The rest of the line need not be searched.
			const next = row + 1 < columns.count ? columns.value(row + 1, 'offset') - from : text.length;
			pattern.lastIndex = Math.max(pattern.lastIndex, Math.min(next, text.length));
		}
	}

	/** Whether a place in a line is part of what was said. */
	#isContent(row: number, offset: number): boolean {
		const {bytes, size, content, kind, offset: start} = this.#index.columns.at(row);
		if (kind === rowKinds.broken || kind === rowKinds.event) return true;
		const at = offset - start - content;
		return at >= 0 && (kind === rowKinds.data ? offset < start + bytes : at < size);
	}
}
