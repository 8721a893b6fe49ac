import {isObject, type JsonObject} from '../util/json.js';
import {batchElements} from '../wire/batch.js';
import {memberRange} from '../wire/member.js';
import {type MessageHead, scanMessage} from '../wire/scan.js';
import type {LogFile} from './log-files.js';
import {type PositionedLine, readPositionedLines} from './positioned-lines.js';

export type LogRange = {readonly file: number; readonly start: number; readonly length: number};

/** An item of a connection: its range in the log, and its time in microseconds. */
type RecordedItem = LogRange & {
	readonly time: number;
	/** The sender. The client is the side that opened the connection. */
	readonly from: 'client' | 'server';
};

/** A message in a log: its range, and what is needed to route it. */
export type RecordedMessage = RecordedItem & {
	/** The position among the messages of its connection. */
	readonly index: number;
	readonly kind: 'request' | 'notification' | 'response';
	/** The id in canonical form. */
	readonly key: string | undefined;
	readonly method: string | undefined;
	/** The end of the pipeline that recorded it. */
	readonly side: 'client' | 'upstream';
	readonly isByBridge: boolean;
};

export type RecordedChunk = RecordedItem;

export type RecordedConnection = {
	readonly id: string;
	readonly client: string;
	readonly server: string;
	readonly messages: readonly RecordedMessage[];
	/** The chunks of a raw connection. */
	readonly chunks: readonly RecordedChunk[];
	/** The side that closed it; undefined if the log ends before that. */
	readonly closedBy: 'client' | 'server' | undefined;
};

export type LogContents = {
	readonly connections: readonly RecordedConnection[];
	/** Lines that could not be parsed, and lines that the log reports as dropped. */
	readonly brokenLines: number;
	readonly gapLines: number;
};

/** Limit of items in memory. A larger log can still be read one connection at a time. */
const MAX_ITEMS = 1_000_000;

/** Indexes a log without keeping its contents in memory. With `conn`, only that connection is read. */
export async function readLogContents(
	files: readonly LogFile[],
	conn: string | undefined,
	onRead: (bytes: number) => void = () => {},
): Promise<LogContents> {
	const reader = new LogReader(conn);
	for (const [file, {path}] of files.entries())
		for await (const lines of readPositionedLines(path, onRead))
			for (const line of lines) reader.read(line, file);
	return reader.contents();
}

type ConnectionDraft = {
	readonly id: string;
	client: string | undefined;
	server: string;
	messages: RecordedMessage[];
	chunks: RecordedChunk[];
	closedBy: 'client' | 'server' | undefined;
};

class LogReader {
	readonly #conn: string | undefined;
	readonly #drafts = new Map<string, ConnectionDraft>();
	readonly #methods = new Map<string, string>();
	#count = 0;
	#brokenLines = 0;
	#gapLines = 0;

	constructor(conn: string | undefined) {
		this.#conn = conn;
	}

	contents(): LogContents {
		const connections = [...this.#drafts.values()].map(draft => ({...draft, client: draft.client ?? ''}));
		return {connections, brokenLines: this.#brokenLines, gapLines: this.#gapLines};
	}

	read({bytes, start}: PositionedLine, file: number): void {
		if (bytes.length === 0) return;
		const range = memberRange(bytes, 'message') ?? memberRange(bytes, 'data');
		const members = parseOuterMembers(bytes, range);
		if (!members) this.#brokenLines++;
		else if (members.event === 'gap') this.#gapLines += Number(members.lines) || 0;
		const id = members?.ConnID;
		if (!members || typeof id !== 'string' || (this.#conn !== undefined && id !== this.#conn)) return;
		const draft = this.#drafts.get(id) ?? this.#addConnection(id);
		if (!range) this.#applyEvent(draft, members);
		else if ('message' in members)
			this.#addMessages(draft, members, bytes.subarray(...range), {file, start: start + range[0]});
		else if (!('side' in members))
			this.#addChunk(draft, members, {file, start: start + range[0], length: range[1] - range[0]});
	}

	#addConnection(id: string): ConnectionDraft {
		const draft = {id, client: undefined, server: '', messages: [], chunks: [], closedBy: undefined};
		this.#drafts.set(id, draft);
		return draft;
	}

	#applyEvent(draft: ConnectionDraft, {event, from, to}: JsonObject): void {
		if (event === 'open') {
			draft.client ??= String(from);
			draft.server = String(to);
		}
		if (event === 'close') draft.closedBy = from === draft.client ? 'client' : 'server';
	}

	#addChunk(draft: ConnectionDraft, members: JsonObject, range: LogRange): void {
		this.#inferSides(draft, members, false);
		const {time, from} = members;
		this.#push(draft.chunks, {
			file: range.file,
			start: range.start,
			length: range.length,
			time: parseTime(time),
			from: from === draft.client ? 'client' : 'server',
		});
	}

	#addMessages(
		draft: ConnectionDraft,
		members: JsonObject,
		bytes: Buffer,
		{file, start}: {file: number; start: number},
	): void {
		const head = scanMessage(bytes);
		const parts = head.flaw === 'a batch' ? (batchElements(bytes) ?? []) : [bytes];
		for (const part of parts) {
			const partHead = part === bytes ? head : scanMessage(part);
			if (partHead.flaw !== undefined) {
				this.#brokenLines++;
				continue;
			}
			const at = start + (part.byteOffset - bytes.byteOffset);
			this.#addMessage(draft, members, partHead, {file, start: at, length: part.length});
		}
	}

	#addMessage(
		draft: ConnectionDraft,
		members: JsonObject,
		{key, method}: MessageHead,
		range: LogRange,
	): void {
		const {time, from, to, side} = members;
		const kind = method === undefined ? 'response' : key === undefined ? 'notification' : 'request';
		this.#inferSides(draft, members, isSentByServer(kind, method));
		// An upstream may be named "bridge", too.
		const isOwn = from === 'bridge' && draft.server !== 'bridge';
		// A spread would make each object three times as large.
		this.#push(draft.messages, {
			file: range.file,
			start: range.start,
			length: range.length,
			index: draft.messages.length,
			time: parseTime(time),
			from: from === draft.client || (isOwn && to !== draft.client) ? 'client' : 'server',
			kind,
			key,
			method: method === undefined ? undefined : this.#internMethod(method),
			side: side === 'upstream' ? 'upstream' : 'client',
			isByBridge: isOwn,
		});
	}

	/** Infers which side is the client if the open event is missing. */
	#inferSides(draft: ConnectionDraft, {from, to}: JsonObject, isServer: boolean): void {
		if (draft.client !== undefined || from === 'bridge') return;
		const isBack = to === 'client' || (from !== 'client' && isServer);
		draft.client = String(isBack ? to : from);
		draft.server = String(isBack ? from : to);
	}

	#internMethod(method: string): string {
		const existing = this.#methods.get(method);
		if (existing === undefined && this.#methods.size < 10_000) this.#methods.set(method, method);
		return existing ?? method;
	}

	#push<T>(list: T[], item: T): void {
		if (this.#count++ < MAX_ITEMS) list.push(item);
		else throw new TooManyMessagesError();
	}
}

/** The log has more than {@link MAX_ITEMS} items. */
export class TooManyMessagesError extends Error {}

/** Whether such a message usually comes from the server. */
const isSentByServer = (kind: string, method = ''): boolean =>
	kind === 'response' ||
	/^(roots|sampling|elicitation)\/|^notifications\/(message|tools|resources|prompts)/.test(method);

/** Parses a line without its message or data, which may be long. */
function parseOuterMembers(
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

/** Parses a time of the log into microseconds since the epoch. */
function parseTime(time: unknown): number {
	const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d{1,6})\d*)?Z$/.exec(String(time)) ?? [];
	const at = Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
	return Number.isNaN(at) ? 0 : at;
}
