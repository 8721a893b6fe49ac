import {isObject, type JsonObject} from '../util/json.js';
import {decodePercentText} from '../wire/percent-text.js';

/** Who said it: the side that opened the connection, or the other one. Without either, both. */
export type DecodeDirection = 'from' | 'to' | undefined;

/** The members of a line, unless it is none. */
export function parseLogLine(line: Buffer): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(line.toString());
		return isObject(value) ? value : undefined;
	} catch {
		return;
	}
}

const CONNECTION_ID = /"ConnID":"([^"\\]+)"/;
/** Where the id of a connection stands, in all logs but those that somebody else has written. */
const HEAD_BYTES = 80;

/** The connection that a line is about, found without reading the whole of it where that can be. */
export function connectionIdOf(line: Buffer): string | undefined {
	const [, id] = CONNECTION_ID.exec(line.toString('latin1', 0, HEAD_BYTES)) ?? [];
	if (id !== undefined) return id;
	const found = parseLogLine(line)?.ConnID;
	return typeof found === 'string' ? found : undefined;
}

/** What the log of a connection lacks. */
type IncompleteLog = {
	/** Lines that the log says it lacks, and that may have been of this connection. */
	readonly gapLines: number;
	/** Lines that could not be read. */
	readonly brokenLines: number;
	/** Who was taken for the client, as the line is not there that would tell. */
	readonly presumedClient: string | undefined;
	readonly hasCloseEvent: boolean;
};

/** Turns the lines of a traffic log back into the bytes of one connection, be it of one direction or of both. */
export class ConnectionDecoder {
	readonly #conn: string;
	readonly #direction: DecodeDirection;
	#client: unknown;
	#state: 'before' | 'open' | 'closed' = 'before';
	#hasOpenEvent = false;
	/** Lines that are missing before the first one of the connection: not of it, if that is its beginning. */
	#gapLinesBeforeFirst = 0;
	#gapLines = 0;
	#brokenLines = 0;

	constructor(conn: string, direction: DecodeDirection) {
		this.#conn = conn;
		this.#direction = direction;
	}

	/** Whether there was any line of that connection. */
	get isFound(): boolean {
		return this.#state !== 'before';
	}

	get missing(): IncompleteLog {
		return {
			gapLines: this.#gapLines,
			brokenLines: this.#brokenLines,
			presumedClient: this.#hasOpenEvent ? undefined : String(this.#client),
			hasCloseEvent: this.#state === 'closed',
		};
	}

	/** The bytes in a line, if it has any that are wanted. */
	decode(line: Buffer): Buffer | undefined {
		// Most lines are of other connections, and say so early.
		const id = connectionIdOf(line);
		if (id !== undefined && id !== this.#conn) return;
		const members = parseLogLine(line);
		if (!members) this.#brokenLines++;
		else if (members.event === 'gap') this.#countGap(Number(members.lines));
		if (members?.ConnID !== this.#conn) return;
		if (!this.isFound) this.#onFirstLine(members);
		this.#state = members.event === 'close' ? 'closed' : 'open';
		const {data, from} = members;
		const isClient = from === this.#client;
		const isWanted = this.#direction === undefined || isClient === (this.#direction === 'from');
		return typeof data === 'string' && isWanted ? decodePercentText(data) : undefined;
	}

	#countGap(lines: number): void {
		if (this.#state === 'open') this.#gapLines += lines;
		else if (this.#state === 'before') this.#gapLinesBeforeFirst += lines;
	}

	#onFirstLine({event, from, to}: JsonObject): void {
		this.#client = event === 'close' ? to : from;
		this.#hasOpenEvent = event === 'open';
		if (!this.#hasOpenEvent) this.#gapLines += this.#gapLinesBeforeFirst;
	}
}
