import type {ServerResponse} from 'node:http';
import {Readable} from 'node:stream';
import {guarded} from './assets.js';
import {filterOf} from './filter.js';
import type {LogIndex} from './log-index.js';
import type {Matches} from './matches.js';
import {numberIn} from './query.js';
import type {Shown} from './source.js';

const LF = Buffer.from('\n');
const READ = 2 ** 20;

/** Answers with lines as a log: the one with a number, or those that a filter lets through, of which `from` and `to` are places. */
export function exportLines(
	{index, matches}: Shown,
	query: URLSearchParams,
	res: ServerResponse,
): ServerResponse | undefined {
	const {count} = index.columns;
	const only = query.has('row') ? numberIn(query, 'row') : undefined;
	if (only !== undefined && only >= count) return;
	const found = matches.of(filterOf(query));
	const [from, to] = [numberIn(query, 'from'), numberIn(query, 'to', found.count - 1)];
	const rows = only === undefined ? between(found, from, to) : [only];
	res.writeHead(200, {
		...guarded,
		'content-type': 'application/x-ndjson',
		'content-disposition': 'attachment; filename="selection.ndjson"',
	});
	Readable.from(linesOf(index, rows))
		.on('error', () => res.destroy())
		.pipe(res);
	return res;
}

function* between(found: Matches, from: number, to: number): Generator<number> {
	const end = Math.min(found.count, to + 1);
	for (let at = from; at < end; at++) yield found.row(at);
}

/** The lines, each connection's first one before all others of it: it tells who the client is. */
function* linesOf(index: LogIndex, rows: Iterable<number>): Generator<Buffer> {
	const opened = new Set<number>();
	for (const row of rows) {
		const conn = index.columns.value(row, 'conn');
		const opening = opened.has(conn) ? undefined : index.connections[conn]?.opened;
		opened.add(conn);
		if (opening !== undefined && opening < row) yield* lineOf(index, opening);
		yield* lineOf(index, row);
	}
}

function* lineOf({columns, bytes}: LogIndex, row: number): Generator<Buffer> {
	const {offset, bytes: length} = columns.at(row);
	for (let at = 0; at < length; at += READ) yield bytes.slice(offset + at, Math.min(READ, length - at));
	yield LF;
}
