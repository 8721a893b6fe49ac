import type {ServerResponse} from 'node:http';
import {Readable} from 'node:stream';
import type {FilterMatches} from './filter-matches.js';
import type {LogIndex} from './log-index.js';
import {securityHeaders} from './page-assets.js';
import {parseNumberParameter} from './query.js';
import {parseRowFilter} from './row-filter.js';
import type {IndexedLog} from './traffic-source.js';

const LF = Buffer.from('\n');
const READ_BYTES = 2 ** 20;

/** Answers with lines as a log: the one with a number, or those that a filter lets through, of which `from` and `to` are places. */
export function exportLines(
	{index, matches}: IndexedLog,
	query: URLSearchParams,
	res: ServerResponse,
): ServerResponse | undefined {
	const {count} = index.columns;
	const singleRow = query.has('row') ? parseNumberParameter(query, 'row') : undefined;
	if (singleRow !== undefined && singleRow >= count) return;
	const found = matches.matchesFor(parseRowFilter(query));
	const [from, to] = [
		parseNumberParameter(query, 'from'),
		parseNumberParameter(query, 'to', found.count - 1),
	];
	const rows = singleRow === undefined ? rowsBetween(found, from, to) : [singleRow];
	res.writeHead(200, {
		...securityHeaders,
		'content-type': 'application/x-ndjson',
		'content-disposition': 'attachment; filename="selection.ndjson"',
	});
	Readable.from(exportedLines(index, rows))
		.on('error', () => res.destroy())
		.pipe(res);
	return res;
}

function* rowsBetween(found: FilterMatches, from: number, to: number): Generator<number> {
	const end = Math.min(found.count, to + 1);
	for (let at = from; at < end; at++) yield found.row(at);
}

/** The lines, each connection's first one before all others of it: it tells who the client is. */
function* exportedLines(index: LogIndex, rows: Iterable<number>): Generator<Buffer> {
	const seenConnections = new Set<number>();
	for (const row of rows) {
		const conn = index.columns.value(row, 'conn');
		const openEventRow = seenConnections.has(conn) ? undefined : index.connections[conn]?.opened;
		seenConnections.add(conn);
		if (openEventRow !== undefined && openEventRow < row) yield* lineChunks(index, openEventRow);
		yield* lineChunks(index, row);
	}
}

function* lineChunks({columns, bytes}: LogIndex, row: number): Generator<Buffer> {
	const {offset, bytes: length} = columns.at(row);
	for (let at = 0; at < length; at += READ_BYTES)
		yield bytes.slice(offset + at, Math.min(READ_BYTES, length - at));
	yield LF;
}
