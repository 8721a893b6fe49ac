import {isObject, type JsonObject} from '../protocol/json.js';
import {fromPercentText} from './percent.js';

/** Who said it: the side that opened the connection, or the other one. Without either, both. */
export type Direction = 'from' | 'to' | undefined;

/** The members of a line, unless it is none. */
export function parseLine(line: Buffer): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(line.toString());
		return isObject(value) ? value : undefined;
	} catch {
		return;
	}
}

const ID = /"ConnID":"([^"\\]+)"/;
/** Where the id of a connection stands, in all logs but those that somebody else has written. */
const HEAD_BYTES = 80;

/** The connection that a line is about, found without reading the whole of it where that can be. */
export function connIdIn(line: Buffer): string | undefined {
	const [, id] = ID.exec(line.toString('latin1', 0, HEAD_BYTES)) ?? [];
	if (id !== undefined) return id;
	const found = parseLine(line)?.ConnID;
	return typeof found === 'string' ? found : undefined;
}

/** What the log of a connection lacks. */
export type Missing = {
	/** Lines that the log says it lacks, and that may have been of this connection. */
	readonly gapLines: number;
	/** Lines that could not be read. */
	readonly brokenLines: number;
	/** Who was taken for the client, as the line is not there that would tell. */
	readonly presumedClient: string | undefined;
	readonly hasEnd: boolean;
};

/** Turns the lines of a traffic log back into the bytes of one connection, be it of one direction or of both. */
export class Decoder {
	readonly #conn: string;
	readonly #direction: Direction;
	#client: unknown;
	#state: 'before' | 'open' | 'closed' = 'before';
	#hasBeginning = false;
	/** Lines that are missing before the first one of the connection: not of it, if that is its beginning. */
	#earlierLines = 0;
	#gapLines = 0;
	#brokenLines = 0;

	constructor(conn: string, direction: Direction) {
		this.#conn = conn;
		this.#direction = direction;
	}

	/** Whether there was any line of that connection. */
	get isFound(): boolean {
		return this.#state !== 'before';
	}

	get missing(): Missing {
		return {
			gapLines: this.#gapLines,
			brokenLines: this.#brokenLines,
			presumedClient: this.#hasBeginning ? undefined : String(this.#client),
			hasEnd: this.#state === 'closed',
		};
	}

	/** The bytes in a line, if it has any that are wanted. */
	decode(line: Buffer): Buffer | undefined {
		// Most lines are of other connections, and say so early.
		const id = connIdIn(line);
		if (id !== undefined && id !== this.#conn) return;
		const members = parseLine(line);
		if (!members) this.#brokenLines++;
		else if (members.event === 'gap') this.#note(Number(members.lines));
		if (members?.ConnID !== this.#conn) return;
		if (!this.isFound) this.#begin(members);
		this.#state = members.event === 'close' ? 'closed' : 'open';
		const {data, from} = members;
		const isClient = from === this.#client;
		const isWanted = this.#direction === undefined || isClient === (this.#direction === 'from');
		return typeof data === 'string' && isWanted ? fromPercentText(data) : undefined;
	}

	#note(lines: number): void {
		if (this.#state === 'open') this.#gapLines += lines;
		else if (this.#state === 'before') this.#earlierLines += lines;
	}

	#begin({event, from, to}: JsonObject): void {
		this.#client = event === 'close' ? to : from;
		this.#hasBeginning = event === 'open';
		if (!this.#hasBeginning) this.#gapLines += this.#earlierLines;
	}
}
