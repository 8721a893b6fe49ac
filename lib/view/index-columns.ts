/** Rows in one piece of memory: as many as the low bits of a row's number tell apart. */
const SEGMENT_BITS = 16;
export const SEGMENT_ROWS = 2 ** SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_ROWS - 1;

/** What a line of a log is. */
export const rowKinds = {
	/** No line of a log at all. */
	broken: 0,
	event: 1,
	/** Bytes that mean nothing here. */
	data: 2,
	request: 3,
	notification: 4,
	result: 5,
	error: 6,
	/** Several messages in one, or JSON that is no message. */
	other: 7,
} as const;

/** What else there is to say of it, a bit for each. */
export const rowFlags = {
	fromClient: 1,
	/** It was seen where bridge talks to the server. */
	upstreamSide: 2,
	byBridge: 4,
	/** A result that says that the tool failed. */
	toolFailed: 8,
} as const;

/** Bytes of a row, in all columns together. */
const ROW_BYTES = 8 + 8 + 4 + 4 + 4 + 4 + 4 + 2 + 2 + 1 + 1;

/** Some rows of the index. Its memory is shared by the thread that fills it and the one that reads it. */
export class IndexSegment {
	readonly memory: SharedArrayBuffer;
	/** Where the line begins in all files as one. */
	readonly offset: Float64Array;
	/** Microseconds since the epoch; NaN where the line does not say. */
	readonly time: Float64Array;
	/** Length of the line, without its end. */
	readonly bytes: Uint32Array;
	/** Length of the message, or of the bytes that data stands for. */
	readonly size: Uint32Array;
	/** Number of the connection; 0 for none. */
	readonly conn: Uint32Array;
	/** The answer of a request or the request of an answer, as its number plus one; 0 where there is none. */
	readonly pair: Uint32Array;
	/** The same message as the other side saw it, likewise. */
	readonly twin: Uint32Array;
	/** Number of the method, or of the event's name; 0 for none. */
	readonly method: Uint16Array;
	/** Where in the line the message or the data begins; 0 where there is none. */
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

/** What is known of a line, while nobody has read it anew. */
export type IndexRow = {
	readonly row: number;
	readonly offset: number;
	readonly time: number;
	readonly bytes: number;
	readonly size: number;
	readonly conn: number;
	/** Numbers of other rows; -1 where there is none. */
	readonly pair: number;
	readonly twin: number;
	readonly method: number;
	readonly content: number;
	readonly kind: number;
	readonly flags: number;
};

/** The index of a log, row by row. It grows, and only pairs and twins of what is there ever change. */
export class IndexColumns {
	readonly segments: IndexSegment[] = [];
	/** How many rows there are. */
	count = 0;

	/** The segment that a row is in, and where in there. */
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

	/** One value of a row, for loops over many. */
	value(row: number, column: Exclude<keyof IndexSegment, 'memory'>): number {
		return this.segmentOf(row)[column][row & SEGMENT_MASK] ?? 0;
	}

	set(row: number, column: Exclude<keyof IndexSegment, 'memory'>, value: number): void {
		this.segmentOf(row)[column][row & SEGMENT_MASK] = value;
	}

	/** The row that a position in the files is in: the last one that begins there or before. */
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
