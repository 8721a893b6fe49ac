import {closeSync, createReadStream, openSync, readdirSync, readSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {BridgeError} from '../core/errors.js';
import {lineSplitter} from '../wire/line-splitter.js';

const READ_BYTES = 2 ** 20;
const MAX_LINE = 512 * 2 ** 20;
/** Length of the part of a file that is searched for its first time. */
const HEAD_BYTES = 64 * 1024;
const TIME_PATTERN = /"time": ?"(\d{4}-[^"]*)"/;

/** A log file. A pipe can be read only once. */
export type LogFile = {readonly path: string; readonly isPipe: boolean};

/** A log file with the first time in it, or an empty string. */
type TimedLogFile = LogFile & {readonly time: string};

/** Lists log files by their first times. Each name is a file or a folder. */
export function listLogFiles(names: readonly string[]): TimedLogFile[] {
	const files = names
		.flatMap(expandPath)
		.map(file => ({...file, time: file.isPipe ? '' : readFirstTime(file.path)}));
	return files.sort((a, b) => compare(a.time, b.time) || compare(a.path, b.path));
}

/** Names do not order files: `%d.%m.%Y` begins with the day. */
const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

function expandPath(path: string): LogFile[] {
	return withReadError(path, () => {
		const stats = statSync(path);
		if (!stats.isDirectory()) return [{path, isPipe: !stats.isFile()}];
		const inside = readdirSync(path).map(file => join(path, file));
		return inside.filter(file => statSync(file).isFile()).map(file => ({path: file, isPipe: false}));
	});
}

function readFirstTime(path: string): string {
	return withReadError(path, () => {
		const handle = openSync(path, 'r');
		try {
			const head = Buffer.alloc(HEAD_BYTES);
			const length = readSync(handle, head);
			return TIME_PATTERN.exec(head.toString('latin1', 0, length))?.[1] ?? '';
		} finally {
			closeSync(handle);
		}
	});
}

/** Reads the lines of files, in one batch per read. A line over the limit is truncated. */
export async function* readLogLines(files: readonly LogFile[]): AsyncGenerator<Buffer[]> {
	for (const {path} of files) {
		let batch: Buffer[] = [];
		const splitter = lineSplitter(MAX_LINE, {
			message: line => void batch.push(line),
			parts: parts => void batch.push(Buffer.concat(parts)),
			tooLarge: start => void batch.push(start),
		});
		const chunks = createReadStream(path, {highWaterMark: READ_BYTES})[Symbol.asyncIterator]();
		for (;;) {
			const {done, value} = await chunks.next().catch(error => Promise.reject(unreadableLog(path, error)));
			if (done) break;
			splitter.push(value as Buffer);
			yield batch;
			batch = [];
		}
		splitter.end();
		yield batch;
	}
}

function withReadError<T>(path: string, read: () => T): T {
	try {
		return read();
	} catch (error) {
		throw unreadableLog(path, error);
	}
}

const unreadableLog = (path: string, error: unknown): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The log ${path} cannot be read: ${(error as Error).message}.`,
		'Name a file, or a folder of files.',
	);
