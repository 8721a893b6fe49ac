import {isObject, type JsonObject} from '../protocol/json.js';
import {elements} from '../wire/batch.js';
import {memberRange} from '../wire/member.js';
import {type Head, scan} from '../wire/scan.js';
import type {LogFile} from './log-files.js';
import {linesIn, type PlacedLine} from './placed-lines.js';

/** Where a part of a log is. */
export type Place = {readonly file: number; readonly start: number; readonly length: number};

/** Something that was said in a connection: where it stands in the log, and when it passed, in microseconds. */
type Said = Place & {
	readonly time: number;
	/** Who said it: the side that opened the connection, or the other one. */
	readonly from: 'client' | 'server';
};

/** A message in a log, with as much of it as is needed to find its way. */
export type Recorded = Said & {
	/** Its place among the messages of its connection. */
	readonly at: number;
	readonly kind: 'request' | 'notification' | 'answer';
	/** The same for all spellings of its id. */
	readonly key: string | undefined;
	readonly method: string | undefined;
	/** At which end of bridge it was seen. */
	readonly side: 'client' | 'upstream';
	/** Whether bridge has made it. */
	readonly isOwn: boolean;
};

/** Bytes in a log. */
export type RecordedChunk = Said;

/** A connection in a log. */
export type RecordedConnection = {
	readonly id: string;
	readonly client: string;
	readonly server: string;
	readonly messages: readonly Recorded[];
	/** What was said in a connection whose bytes meant nothing to bridge. */
	readonly chunks: readonly RecordedChunk[];
	/** Who closed it; undefined where the log ends before that. */
	readonly closedBy: 'client' | 'server' | undefined;
};

/** What there is in a log. */
export type Contents = {
	readonly connections: readonly RecordedConnection[];
	/** Lines that could not be read, and lines that the log says it lacks. */
	readonly brokenLines: number;
	readonly gapLines: number;
};

/** More is not kept in mind of one log. Whoever has such a log names one connection. */
const MAX_RECORDED = 1_000_000;

/** Reads what is said in a log, without keeping what it says. Only one connection of it, where one is named. */
export async function contentsOf(
	files: readonly LogFile[],
	conn: string | undefined,
	onRead: (bytes: number) => void = () => {},
): Promise<Contents> {
	const reader = new Reader(conn);
	for (const [file, {path}] of files.entries())
		for await (const lines of linesIn(path, onRead)) for (const line of lines) reader.read(line, file);
	return reader.contents();
}

type Open = {
	readonly id: string;
	client: string | undefined;
	server: string;
	messages: Recorded[];
	chunks: RecordedChunk[];
	closedBy: 'client' | 'server' | undefined;
};

class Reader {
	readonly #conn: string | undefined;
	readonly #open = new Map<string, Open>();
	/** Each method once, however often it is called. */
	readonly #methods = new Map<string, string>();
	#count = 0;
	#brokenLines = 0;
	#gapLines = 0;

	constructor(conn: string | undefined) {
		this.#conn = conn;
	}

	contents(): Contents {
		const connections = [...this.#open.values()].map(one => ({...one, client: one.client ?? ''}));
		return {connections, brokenLines: this.#brokenLines, gapLines: this.#gapLines};
	}

	read({bytes, start}: PlacedLine, file: number): void {
		if (bytes.length === 0) return;
		const range = memberRange(bytes, 'message') ?? memberRange(bytes, 'data');
		const members = parsed(bytes, range);
		if (!members) this.#brokenLines++;
		else if (members.event === 'gap') this.#gapLines += Number(members.lines) || 0;
		const id = members?.ConnID;
		if (!members || typeof id !== 'string' || (this.#conn !== undefined && id !== this.#conn)) return;
		const open = this.#open.get(id) ?? this.#begin(id);
		if (!range) this.#event(open, members);
		else if ('message' in members)
			this.#message(open, members, bytes.subarray(...range), {file, start: start + range[0]});
		else if (!('side' in members))
			this.#chunk(open, members, {file, start: start + range[0], length: range[1] - range[0]});
	}

	#begin(id: string): Open {
		const open = {id, client: undefined, server: '', messages: [], chunks: [], closedBy: undefined};
		this.#open.set(id, open);
		return open;
	}

	#event(open: Open, {event, from, to}: JsonObject): void {
		if (event === 'open') {
			open.client ??= String(from);
			open.server = String(to);
		}
		if (event === 'close') open.closedBy = from === open.client ? 'client' : 'server';
	}

	#chunk(open: Open, members: JsonObject, place: Place): void {
		this.#names(open, members, false);
		const {time, from} = members;
		this.#add(open.chunks, {
			file: place.file,
			start: place.start,
			length: place.length,
			time: microsecondsOf(time),
			from: from === open.client ? 'client' : 'server',
		});
	}

	#message(
		open: Open,
		members: JsonObject,
		bytes: Buffer,
		{file, start}: {file: number; start: number},
	): void {
		const head = scan(bytes);
		const parts = head.flaw === 'a batch' ? (elements(bytes) ?? []) : [bytes];
		for (const part of parts) {
			const own = part === bytes ? head : scan(part);
			if (own.flaw !== undefined) {
				this.#brokenLines++;
				continue;
			}
			const at = start + (part.byteOffset - bytes.byteOffset);
			this.#one(open, members, own, {file, start: at, length: part.length});
		}
	}

	#one(open: Open, members: JsonObject, {key, method}: Head, place: Place): void {
		const {time, from, to, side} = members;
		const kind = method === undefined ? 'answer' : key === undefined ? 'notification' : 'request';
		this.#names(open, members, isOfServers(kind, method));
		// A server may be called bridge, too.
		const isOwn = from === 'bridge' && open.server !== 'bridge';
		// Without a spread, which makes each of them thrice as large.
		this.#add(open.messages, {
			file: place.file,
			start: place.start,
			length: place.length,
			at: open.messages.length,
			time: microsecondsOf(time),
			from: from === open.client || (isOwn && to !== open.client) ? 'client' : 'server',
			kind,
			key,
			method: method === undefined ? undefined : this.#known(method),
			side: side === 'upstream' ? 'upstream' : 'client',
			isOwn,
		});
	}

	/** Who is who, where the line is not there that would tell. */
	#names(open: Open, {from, to}: JsonObject, isServer: boolean): void {
		if (open.client !== undefined || from === 'bridge') return;
		const isBack = to === 'client' || (from !== 'client' && isServer);
		open.client = String(isBack ? to : from);
		open.server = String(isBack ? from : to);
	}

	#known(method: string): string {
		const known = this.#methods.get(method);
		if (known === undefined && this.#methods.size < 10_000) this.#methods.set(method, method);
		return known ?? method;
	}

	#add<T>(list: T[], one: T): void {
		if (this.#count++ < MAX_RECORDED) list.push(one);
		else throw new TooMuch();
	}
}

/** The log has more than can be kept in mind. */
export class TooMuch extends Error {}

/** Whether it is the server who says such things. */
const isOfServers = (kind: string, method = ''): boolean =>
	kind === 'answer' ||
	/^(roots|sampling|elicitation)\/|^notifications\/(message|tools|resources|prompts)/.test(method);

/** The members of a line, but for the longest of them. */
function parsed(
	bytes: Buffer,
	range: readonly [start: number, end: number] | undefined,
): JsonObject | undefined {
	try {
		const text = range
			? `${bytes.toString('utf8', 0, range[0])}null${bytes.toString('utf8', range[1])}`
			: bytes.toString();
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		return;
	}
}

/** A time of the log in microseconds since the epoch, as exact as it is written. */
function microsecondsOf(time: unknown): number {
	const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d{1,6})\d*)?Z$/.exec(String(time)) ?? [];
	const at = Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
	return Number.isNaN(at) ? 0 : at;
}
