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

/** Turns the lines of a traffic log back into the bytes of one connection, be it of one direction or of both. */
export class Decoder {
	readonly #conn: string;
	readonly #direction: Direction;
	#client: unknown;
	#isOpen = false;
	/** Whether there was any line of that connection. */
	isFound = false;
	/** How many lines are missing from the log while it was open. */
	missingLines = 0;
	/** How many lines could not be read. */
	brokenLines = 0;

	constructor(conn: string, direction: Direction) {
		this.#conn = conn;
		this.#direction = direction;
	}

	/** The bytes in a line, if it has any that are wanted. */
	decode(line: Buffer): Buffer | undefined {
		// Most lines are of other connections, and say so early.
		const id = connIdIn(line);
		if (id !== undefined && id !== this.#conn) return;
		const members = parseLine(line);
		if (!members) this.brokenLines++;
		else if (members.event === 'gap' && this.#isOpen) this.missingLines += Number(members.lines);
		if (members?.ConnID !== this.#conn) return;
		this.#client ??= members.event === 'close' ? members.to : members.from;
		this.#isOpen = members.event !== 'close';
		this.isFound = true;
		const {data, from} = members;
		const isClient = from === this.#client;
		const isWanted = this.#direction === undefined || isClient === (this.#direction === 'from');
		return typeof data === 'string' && isWanted ? fromPercentText(data) : undefined;
	}
}
