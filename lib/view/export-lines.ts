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

/**
 * Sends log lines: the line with the number `row`, or those that match the filter. `from` and `to` are
 * positions among the matches.
 */
export function exportLines(
	{index, matches}: IndexedLog,
	query: URLSearchParams,
	res: ServerResponse,
): ServerResponse | undefined {
	const {count} = index.columns;
	const singleRow = query.has('row') ? parseNumberParameter(query, 'row') : undefined;
	if (singleRow !== undefined && singleRow >= count) return;
	const matchingRows = matches.matchesFor(parseRowFilter(query));
	const [from, to] = [
		parseNumberParameter(query, 'from'),
		parseNumberParameter(query, 'to', matchingRows.count - 1),
	];
	const rows = singleRow === undefined ? rowsBetween(matchingRows, from, to) : [singleRow];
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

function* rowsBetween(matchingRows: FilterMatches, from: number, to: number): Generator<number> {
	const end = Math.min(matchingRows.count, to + 1);
	for (let at = from; at < end; at++) yield matchingRows.row(at);
}

/**
 * Yields the lines. The first exported line of a connection is preceded by its `open` event, which identifies
 * the client.
 */
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
