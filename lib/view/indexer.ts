import {isObject} from '../protocol/json.js';
import {parseLine} from '../store/decode.js';
import {canonicalId} from '../wire/id.js';
import {Walk} from '../wire/walk.js';
import {Columns, flags, kinds, SEGMENT_ROWS, Segment} from './columns.js';
import {Connections, Names} from './connections.js';
import {LineFacts} from './line-facts.js';
import {Pairs} from './pairs.js';

/** Names of methods and events. All further ones stand as they are in their lines, and cannot be filtered by. */
const MAX_METHODS = 2 ** 16;
/** More rows than these are not indexed. */
export const MAX_ROWS = 2 ** 25;
/** Versions are looked for in the first messages of a connection. */
const FIRST_ROWS = 8;
const TOOL_FAILED = '"isError":true';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Makes rows of lines. */
export class Indexer {
	readonly columns = new Columns();
	readonly connections = new Connections();
	readonly methods = new Names(MAX_METHODS);
	readonly #pairs = new Pairs(this.columns);
	#walk = new Walk();
	#facts = new LineFacts(this.#walk);

	/** Memory for the next lines, which are walked over where they lie. It is another one after {@link reserve}. */
	get text(): Buffer {
		return this.#walk.text;
	}

	reserve(bytes: number): void {
		this.#walk.reserve(bytes);
	}

	/** Gives memory back that a long line needed. */
	shrink(): void {
		if (!this.#walk.isLarge) return;
		this.#walk = new Walk();
		this.#facts = new LineFacts(this.#walk);
	}

	get isFull(): boolean {
		return this.columns.count >= MAX_ROWS;
	}

	/** Adds the line between two positions in the text, which begins at `offset` in the log. Returns whether it is one. */
	add(start: number, end: number, offset: number, bytes = end - start): boolean {
		// Every walk stops at a zero byte, and so at the end of the line.
		this.#walk.text[end] = 0;
		const isLine = this.#facts.read(start, end);
		const row = this.#append(offset, bytes);
		if (isLine) this.#note(row, start);
		return isLine;
	}

	/** Whether there is a whole line between two positions. */
	isLine(start: number, end: number): boolean {
		this.#walk.text[end] = 0;
		return this.#facts.read(start, end);
	}

	#append(offset: number, bytes: number): number {
		const {columns} = this;
		const row = columns.count++;
		if (row % SEGMENT_ROWS === 0) columns.segments.push(new Segment());
		columns.set(row, 'offset', offset);
		columns.set(row, 'bytes', bytes);
		columns.set(row, 'time', Number.NaN);
		return row;
	}

	#note(row: number, start: number): void {
		const facts = this.#facts;
		const {columns} = this;
		const event = facts.text(facts.event);
		const conn = this.#connOf(row, event);
		const kind = this.#kindOf();
		columns.set(row, 'time', facts.microseconds);
		columns.set(row, 'conn', conn);
		columns.set(row, 'kind', kind);
		columns.set(row, 'flags', this.#flagsOf(conn));
		const content = facts.message.start || facts.data.start;
		if (content > 0 && content - start < 2 ** 16) columns.set(row, 'content', content - start);
		if (kind === kinds.data) columns.set(row, 'size', facts.dataSize);
		else columns.set(row, 'size', facts.message.end - facts.message.start);
		const name = kind === kinds.event ? event : facts.text(facts.method);
		if (name !== undefined && facts.message.start > 0 === kind > kinds.data)
			columns.set(row, 'method', this.methods.numberOf(name));
		if (event === 'open')
			this.connections.change(conn, connection => {
				connection.opened ??= row;
			});
		if (kind >= kinds.request && conn !== 0) this.#relate(row, conn, kind);
	}

	#connOf(row: number, event: string | undefined): number {
		const facts = this.#facts;
		const id = facts.text(facts.conn);
		if (id === undefined) return 0;
		const [from, to] = [facts.text(facts.from) ?? '', facts.text(facts.to) ?? ''];
		const conn = this.connections.numberOf(id, row, from, to, event);
		this.connections.change(conn, connection => {
			connection.rows++;
		});
		return conn;
	}

	#kindOf(): number {
		const facts = this.#facts;
		const {message, method, id, result, error} = facts;
		if (message.start === 0) return facts.text(facts.data) === undefined ? kinds.event : kinds.data;
		if (!facts.isObject) return kinds.other;
		if (facts.text(method) !== undefined)
			return facts.idText(id) === undefined ? kinds.notification : kinds.request;
		if (error.start !== 0) return kinds.error;
		return result.start === 0 ? kinds.other : kinds.result;
	}

	#flagsOf(conn: number): number {
		const facts = this.#facts;
		const connection = this.connections.all[conn];
		const [from, to] = [facts.text(facts.from), facts.text(facts.to)];
		const isByBridge = from === 'bridge' && connection?.client !== 'bridge';
		const isFromClient = isByBridge ? to !== connection?.client : from === connection?.client;
		const isUpstream = facts.text(facts.side) === 'upstream';
		return (
			(isFromClient ? flags.fromClient : 0) |
			(isUpstream ? flags.upstreamSide : 0) |
			(isByBridge ? flags.byBridge : 0)
		);
	}

	/** Finds what a message belongs to, and what it tells of its connection. */
	#relate(row: number, conn: number, kind: number): void {
		const facts = this.#facts;
		const {columns} = this;
		const written = facts.idText(facts.id);
		const id = written === undefined ? undefined : canonicalId(written);
		if (kind === kinds.notification) this.#pairs.told(row, conn, columns.value(row, 'method'));
		else if (kind === kinds.request && id !== undefined) this.#pairs.asked(row, conn, id);
		const connection = this.connections.all[conn];
		if (kind === kinds.request && connection && connection.rows <= FIRST_ROWS)
			this.#noteVersion(conn, row, ['params', '_meta', VERSION_KEY]);
		if ((kind !== kinds.result && kind !== kinds.error) || id === undefined) return;
		const request = this.#pairs.answered(row, conn, id);
		const method = request === undefined ? 0 : columns.value(request, 'method');
		columns.set(row, 'method', method);
		if (kind === kinds.error) return;
		const name = this.methods.texts[method];
		if (name === 'initialize') this.#noteVersion(conn, row, ['result', 'protocolVersion']);
		if (name === 'tools/call' && this.#contains(TOOL_FAILED) && this.#valueAt(['result', 'isError']) === true)
			columns.set(row, 'flags', columns.value(row, 'flags') | flags.toolFailed);
	}

	/** Notes the version that a message of the side it was seen on names. */
	#noteVersion(conn: number, row: number, path: readonly string[]): void {
		if (!this.#contains(path.at(-1) ?? '')) return;
		const version = this.#valueAt(path);
		if (typeof version !== 'string' || version.length > 32) return;
		const isUpstream = (this.columns.value(row, 'flags') & flags.upstreamSide) !== 0;
		this.connections.change(conn, connection => {
			if (isUpstream) connection.upstreamVersion = version;
			else connection.clientVersion = version;
		});
	}

	/** Whether a text is in the message as it is written: a search that is cheap, before a parser that is not. */
	#contains(text: string): boolean {
		const {start, end} = this.#facts.message;
		return this.text.subarray(start, end).includes(text, 0, 'latin1');
	}

	#valueAt(path: readonly string[]): unknown {
		const {start, end} = this.#facts.message;
		let value: unknown = parseLine(this.text.subarray(start, end));
		for (const name of path) value = isObject(value) ? value[name] : undefined;
		return value;
	}
}
