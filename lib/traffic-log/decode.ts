import {isObject, type JsonObject} from '../util/json.js';
import {decodePercentText} from '../wire/percent-text.js';

/** The sender: `from` is the side that opened the connection, `to` the other one. Undefined selects both. */
export type DecodeDirection = 'from' | 'to' | undefined;

/** Returns the members of a line, unless it is not a JSON object. */
export function parseLogLine(line: Buffer): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(line.toString());
		return isObject(value) ? value : undefined;
	} catch {
		return;
	}
}

const CONNECTION_ID = /"ConnID":"([^"\\]+)"/;
/** Length of the part of a line that contains the id, in all logs that bridge has written. */
const HEAD_BYTES = 80;

/** Returns the connection of a line, if possible without parsing the whole line. */
export function connectionIdOf(line: Buffer): string | undefined {
	const [, id] = CONNECTION_ID.exec(line.toString('latin1', 0, HEAD_BYTES)) ?? [];
	if (id !== undefined) return id;
	const found = parseLogLine(line)?.ConnID;
	return typeof found === 'string' ? found : undefined;
}

type IncompleteLog = {
	/** Lines that the log reports as dropped and that may belong to this connection. */
	readonly gapLines: number;
	readonly brokenLines: number;
	/** The presumed client, if the open event is missing. */
	readonly presumedClient: string | undefined;
	readonly hasCloseEvent: boolean;
};

/** Decodes the lines of a traffic log into the bytes of one connection, in one or both directions. */
export class ConnectionDecoder {
	readonly #conn: string;
	readonly #direction: DecodeDirection;
	#client: unknown;
	#state: 'before' | 'open' | 'closed' = 'before';
	#hasOpenEvent = false;
	/** Dropped lines before the first line of the connection. They do not count if that is its open event. */
	#gapLinesBeforeFirst = 0;
	#gapLines = 0;
	#brokenLines = 0;

	constructor(conn: string, direction: DecodeDirection) {
		this.#conn = conn;
		this.#direction = direction;
	}

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

	/** Returns the bytes in a line, if it has any in the selected direction. */
	decode(line: Buffer): Buffer | undefined {
		// The start of a line is enough to skip other connections, which most lines belong to.
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
		const isSelected = this.#direction === undefined || isClient === (this.#direction === 'from');
		return typeof data === 'string' && isSelected ? decodePercentText(data) : undefined;
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
