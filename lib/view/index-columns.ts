/** Rows per segment, as a power of two. */
const SEGMENT_BITS = 16;
export const SEGMENT_ROWS = 2 ** SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_ROWS - 1;

/** The kinds of log lines. */
export const rowKinds = {
	/** Not a valid log line. */
	broken: 0,
	event: 1,
	/** Raw bytes of a protocol that is not parsed. */
	data: 2,
	request: 3,
	notification: 4,
	result: 5,
	error: 6,
	/** A JSON-RPC batch, or JSON that is not a message. */
	other: 7,
} as const;

/** Additional properties of a row, as bits. */
export const rowFlags = {
	fromClient: 1,
	/** Recorded between bridge and the upstream. */
	upstreamSide: 2,
	byBridge: 4,
	/** A tool result with `isError`. */
	toolFailed: 8,
} as const;

/** Bytes per row in all columns. */
const ROW_BYTES = 8 + 8 + 4 + 4 + 4 + 4 + 4 + 2 + 2 + 1 + 1;

/** A fixed number of rows. The indexing thread and the reading thread share its memory. */
export class IndexSegment {
	readonly memory: SharedArrayBuffer;
	/** Offset of the line in the concatenated files. */
	readonly offset: Float64Array;
	/** Microseconds since the epoch; NaN if the line has no time. */
	readonly time: Float64Array;
	/** Length of the line in bytes, without the line ending. */
	readonly bytes: Uint32Array;
	/** Length of the message, or of the decoded data, in bytes. */
	readonly size: Uint32Array;
	/** Number of the connection; 0 for none. */
	readonly conn: Uint32Array;
	/** Row number plus one of the response to a request, or of the request of a response; 0 for none. */
	readonly pair: Uint32Array;
	/** Row number plus one of the same message on the other side of bridge; 0 for none. */
	readonly twin: Uint32Array;
	/** Number of the method or of the event name; 0 for none. */
	readonly method: Uint16Array;
	/** Offset of the message or data within the line; 0 for none. */
	readonly content: Uint16Array;
	readonly kind: Uint8Array;
	readonly flags: Uint8Array;

	constructor(memory = new SharedArrayBuffer(SEGMENT_ROWS * ROW_BYTES)) {
		this.memory = memory;
		let at = 0;
		const next = (bytes: number): readonly [SharedArrayBuffer, number, number] => {
			const start = at;
			at += SEGMENT_ROWS * bytes;
			return [memory, start, SEGMENT_ROWS];
		};
		this.offset = new Float64Array(...next(8));
		this.time = new Float64Array(...next(8));
		this.bytes = new Uint32Array(...next(4));
		this.size = new Uint32Array(...next(4));
		this.conn = new Uint32Array(...next(4));
		this.pair = new Uint32Array(...next(4));
		this.twin = new Uint32Array(...next(4));
		this.method = new Uint16Array(...next(2));
		this.content = new Uint16Array(...next(2));
		this.kind = new Uint8Array(...next(1));
		this.flags = new Uint8Array(...next(1));
	}
}

/** The indexed values of a row. */
export type IndexRow = {
	readonly row: number;
	readonly offset: number;
	readonly time: number;
	readonly bytes: number;
	readonly size: number;
	readonly conn: number;
	/** Row numbers; -1 for none. */
	readonly pair: number;
	readonly twin: number;
	readonly method: number;
	readonly content: number;
	readonly kind: number;
	readonly flags: number;
};

/** The index of a log. Rows are only appended. Of existing rows, only `pair` and `twin` change. */
export class IndexColumns {
	readonly segments: IndexSegment[] = [];
	count = 0;

	/** The segment that contains a row. */
	segmentOf(row: number): IndexSegment {
		const segment = this.segments[row >>> SEGMENT_BITS];
		if (!segment) throw new RangeError(`There is no row ${row}.`);
		return segment;
	}

	at(row: number): IndexRow {
		const segment = this.segmentOf(row);
		const at = row & SEGMENT_MASK;
		const number = (column: {readonly [index: number]: number}): number => column[at] ?? 0;
		return {
			row,
			offset: number(segment.offset),
			time: number(segment.time),
			bytes: number(segment.bytes),
			size: number(segment.size),
			conn: number(segment.conn),
			pair: number(segment.pair) - 1,
			twin: number(segment.twin) - 1,
			method: number(segment.method),
			content: number(segment.content),
			kind: number(segment.kind),
			flags: number(segment.flags),
		};
	}

	/** One value of a row. Faster than `at` in loops over many rows. */
	value(row: number, column: Exclude<keyof IndexSegment, 'memory'>): number {
		return this.segmentOf(row)[column][row & SEGMENT_MASK] ?? 0;
	}

	set(row: number, column: Exclude<keyof IndexSegment, 'memory'>, value: number): void {
		this.segmentOf(row)[column][row & SEGMENT_MASK] = value;
	}

	/** The last row that begins at or before an offset. */
	rowAt(offset: number): number {
		let [low, high] = [0, this.count];
		while (high - low > 1) {
			const middle = (low + high) >>> 1;
			if (this.value(middle, 'offset') <= offset) low = middle;
			else high = middle;
		}
		return low;
	}
}
