import {parseLogLine} from '../traffic-log/decode.js';
import {isObject} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {Walk} from '../wire/walk.js';
import {ConnectionTable, NameTable} from './connection-table.js';
import {IndexColumns, IndexSegment, rowFlags, rowKinds, SEGMENT_ROWS} from './index-columns.js';
import {LineFields} from './line-fields.js';
import {MessagePairs} from './message-pairs.js';

/** Further names of methods and events are shown from their lines, but cannot be filtered by. */
const MAX_METHODS = 2 ** 16;
/** Further rows are not indexed. */
const MAX_INDEXED_ROWS = 2 ** 25;
/** Protocol versions are searched for in the first messages of a connection. */
const VERSION_SEARCH_ROWS = 8;
const TOOL_FAILED = '"isError":true';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Converts log lines to index rows. */
export class LogIndexer {
	readonly columns = new IndexColumns();
	readonly connections = new ConnectionTable();
	readonly methods = new NameTable(MAX_METHODS);
	readonly #pairs = new MessagePairs(this.columns);
	#walk = new Walk();
	#fields = new LineFields(this.#walk);

	/** The buffer for the next lines, which are scanned in place. {@link reserve} replaces it. */
	get text(): Buffer {
		return this.#walk.text;
	}

	reserve(bytes: number): void {
		this.#walk.reserve(bytes);
	}

	/** Releases memory that a long line needed. */
	shrink(): void {
		if (!this.#walk.isLarge) return;
		this.#walk = new Walk();
		this.#fields = new LineFields(this.#walk);
	}

	get isFull(): boolean {
		return this.columns.count >= MAX_INDEXED_ROWS;
	}

	/**
	 * Adds the line between two positions in the text. `offset` is its position in the log. Returns whether
	 * it is valid JSON.
	 */
	add(start: number, end: number, offset: number, bytes = end - start): boolean {
		// A walk stops at a zero byte, and therefore at the end of the line.
		this.#walk.text[end] = 0;
		const isLine = this.#fields.read(start, end);
		const row = this.#append(offset, bytes);
		if (isLine) this.#fillRow(row, start);
		return isLine;
	}

	/** Whether there is a complete line between two positions. */
	isLine(start: number, end: number): boolean {
		this.#walk.text[end] = 0;
		return this.#fields.read(start, end);
	}

	#append(offset: number, bytes: number): number {
		const {columns} = this;
		const row = columns.count++;
		if (row % SEGMENT_ROWS === 0) columns.segments.push(new IndexSegment());
		columns.set(row, 'offset', offset);
		columns.set(row, 'bytes', bytes);
		columns.set(row, 'time', Number.NaN);
		return row;
	}

	#fillRow(row: number, start: number): void {
		const fields = this.#fields;
		const {columns} = this;
		const event = fields.text(fields.event);
		const conn = this.#connOf(row, event);
		const kind = this.#kindOf();
		columns.set(row, 'time', fields.microseconds);
		columns.set(row, 'conn', conn);
		columns.set(row, 'kind', kind);
		columns.set(row, 'flags', this.#flagsOf(conn));
		const content = fields.message.start || fields.data.start;
		if (content > 0 && content - start < 2 ** 16) columns.set(row, 'content', content - start);
		if (kind === rowKinds.data) columns.set(row, 'size', fields.dataSize);
		else columns.set(row, 'size', fields.message.end - fields.message.start);
		const name = kind === rowKinds.event ? event : fields.text(fields.method);
		if (name !== undefined && fields.message.start > 0 === kind > rowKinds.data)
			columns.set(row, 'method', this.methods.numberOf(name));
		if (event === 'open')
			this.connections.update(conn, connection => {
				connection.opened ??= row;
			});
		if (kind >= rowKinds.request && conn !== 0) this.#linkMessage(row, conn, kind);
	}

	#connOf(row: number, event: string | undefined): number {
		const fields = this.#fields;
		const id = fields.text(fields.conn);
		if (id === undefined) return 0;
		const [from, to] = [fields.text(fields.from) ?? '', fields.text(fields.to) ?? ''];
		const conn = this.connections.numberOf(id, row, from, to, event);
		this.connections.update(conn, connection => {
			connection.rows++;
		});
		return conn;
	}

	#kindOf(): number {
		const fields = this.#fields;
		const {message, method, id, result, error} = fields;
		if (message.start === 0) return fields.text(fields.data) === undefined ? rowKinds.event : rowKinds.data;
		if (!fields.isObject) return rowKinds.other;
		if (fields.text(method) !== undefined)
			return fields.idText(id) === undefined ? rowKinds.notification : rowKinds.request;
		if (error.start !== 0) return rowKinds.error;
		return result.start === 0 ? rowKinds.other : rowKinds.result;
	}

	#flagsOf(conn: number): number {
		const fields = this.#fields;
		const connection = this.connections.all[conn];
		const [from, to] = [fields.text(fields.from), fields.text(fields.to)];
		const isByBridge = from === 'bridge' && connection?.client !== 'bridge';
		const isFromClient = isByBridge ? to !== connection?.client : from === connection?.client;
		const isUpstream = fields.text(fields.side) === 'upstream';
		return (
			(isFromClient ? rowFlags.fromClient : 0) |
			(isUpstream ? rowFlags.upstreamSide : 0) |
			(isByBridge ? rowFlags.byBridge : 0)
		);
	}

	/** Links a message to its pair and twin, and extracts the protocol version of its connection. */
	#linkMessage(row: number, conn: number, kind: number): void {
		const fields = this.#fields;
		const {columns} = this;
		const idText = fields.idText(fields.id);
		const id = idText === undefined ? undefined : canonicalId(idText);
		if (kind === rowKinds.notification) this.#pairs.addNotification(row, conn, columns.value(row, 'method'));
		else if (kind === rowKinds.request && id !== undefined) this.#pairs.addRequest(row, conn, id);
		const connection = this.connections.all[conn];
		if (kind === rowKinds.request && connection && connection.rows <= VERSION_SEARCH_ROWS)
			this.#noteVersion(conn, row, ['params', '_meta', VERSION_KEY]);
		if ((kind !== rowKinds.result && kind !== rowKinds.error) || id === undefined) return;
		const request = this.#pairs.addResponse(row, conn, id);
		const method = request === undefined ? 0 : columns.value(request, 'method');
		columns.set(row, 'method', method);
		if (kind === rowKinds.error) return;
		const name = this.methods.texts[method];
		if (name === 'initialize') this.#noteVersion(conn, row, ['result', 'protocolVersion']);
		if (name === 'tools/call' && this.#contains(TOOL_FAILED) && this.#valueAt(['result', 'isError']) === true)
			columns.set(row, 'flags', columns.value(row, 'flags') | rowFlags.toolFailed);
	}

	/** Records the protocol version that a message contains, for the side where it was recorded. */
	#noteVersion(conn: number, row: number, path: readonly string[]): void {
		if (!this.#contains(path.at(-1) ?? '')) return;
		const version = this.#valueAt(path);
		if (typeof version !== 'string' || version.length > 32) return;
		const isUpstream = (this.columns.value(row, 'flags') & rowFlags.upstreamSide) !== 0;
		this.connections.update(conn, connection => {
			if (isUpstream) connection.upstreamVersion = version;
			else connection.clientVersion = version;
		});
	}

	/** Whether the source of the message contains a text. This cheap search avoids parsing most messages. */
	#contains(text: string): boolean {
		const {start, end} = this.#fields.message;
		return this.text.subarray(start, end).includes(text, 0, 'latin1');
	}

	#valueAt(path: readonly string[]): unknown {
		const {start, end} = this.#fields.message;
		let value: unknown = parseLogLine(this.text.subarray(start, end));
		for (const name of path) value = isObject(value) ? value[name] : undefined;
		return value;
	}
}
