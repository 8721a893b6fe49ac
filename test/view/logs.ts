import {closeSync, openSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import {rowFlags, rowKinds} from '../../lib/view/index-columns.js';
import {LogBytes} from '../../lib/view/log-bytes.js';
import {LogIndexer} from '../../lib/view/log-indexer.js';
import {LogScanner, type LogScannerOptions} from '../../lib/view/log-scanner.js';
import {tempFolder} from '../helpers/temp-folder.js';

export type Message = {readonly [key: string]: unknown};

const START = Date.parse('2026-11-16T01:00:00Z');

/** The time of a line, one millisecond after the previous one. */
export const timeAt = (line: number): string => new Date(START + line).toISOString().replace('Z', '000Z');

export type LineOptions = {
	readonly from?: string;
	readonly to?: string;
	readonly conn?: string;
	readonly side?: 'client' | 'upstream';
	readonly line?: number;
};

/** A line with a message in the format of bridge. */
export function messageLine(message: Message, options: LineOptions = {}): string {
	const {from = 'client', to = 'files', conn = '0Ab3xYz9', side = 'client', line = 0} = options;
	return JSON.stringify({
		time: timeAt(line),
		ConnID: conn,
		message: {jsonrpc: '2.0', ...message},
		from,
		to,
		side,
	});
}

export const eventLine = (event: string, conn = '0Ab3xYz9', line = 0): string =>
	JSON.stringify({time: timeAt(line), ConnID: conn, event, from: 'client', to: 'files'});

/** The direction from the server. */
export const back = {from: 'files', to: 'client'} as const;

/** Creates a log file, which is deleted after the test. */
export function logFile(t: ExecutionContext, content: string | Uint8Array, name = 'log.ndjson'): string {
	const file = join(tempFolder(t), name);
	writeFileSync(file, content);
	return file;
}

/** Indexes the current content of files in this thread. */
export function indexed(files: readonly string[], options: Partial<LogScannerOptions> = {}) {
	const fds = files.map(file => openSync(file, 'r'));
	const indexer = new LogIndexer();
	const run = new LogScanner({...options, bytes: new LogBytes(fds), indexer});
	while (run.step());
	const close = (): void => {
		for (const fd of fds) closeSync(fd);
	};
	return {indexer, run, close};
}

const kindNames = Object.keys(rowKinds);

/** Converts all rows of the index to objects. */
export function rowsOf({columns, methods, connections}: LogIndexer) {
	return Array.from({length: columns.count}, (_, row) => {
		const {offset, bytes, size, time, conn, method, kind, flags: bits, pair, twin} = columns.at(row);
		return {
			offset,
			bytes,
			size,
			time,
			pair,
			twin,
			kind: kindNames[kind],
			conn: connections.all[conn]?.id,
			method: methods.texts[method],
			isFromClient: (bits & rowFlags.fromClient) !== 0,
			isUpstream: (bits & rowFlags.upstreamSide) !== 0,
			isByBridge: (bits & rowFlags.byBridge) !== 0,
			hasFailed: (bits & rowFlags.toolFailed) !== 0,
		};
	});
}
