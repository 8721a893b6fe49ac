import {closeSync, createReadStream, openSync, readdirSync, readSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {BridgeError} from '../errors.js';
import {lines} from '../wire/lines.js';

const READ_BYTES = 2 ** 20;
const MAX_LINE = 512 * 2 ** 20;
/** Where the first time of a file is looked for. */
const HEAD_BYTES = 64 * 1024;
const TIME = /"time": ?"(\d{4}-[^"]*)"/;

/** A file with lines of a log, and whether it can be read more than once. */
export type LogFile = {readonly path: string; readonly isPipe: boolean};

/** The same with the first time in it; empty where it has none at its beginning. */
export type TimedLogFile = LogFile & {readonly time: string};

/** The files of logs, each named by itself or by its folder, in the order of the times that they begin with. */
export function logFiles(names: readonly string[]): TimedLogFile[] {
	const files = names
		.flatMap(filesOf)
		.map(file => ({...file, time: file.isPipe ? '' : firstTime(file.path)}));
	return files.sort((a, b) => compare(a.time, b.time) || compare(a.path, b.path));
}

/** How files are named says nothing of their order: `%d.%m.%Y` begins with the day. */
const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

function filesOf(path: string): LogFile[] {
	return reading(path, () => {
		const found = statSync(path);
		if (!found.isDirectory()) return [{path, isPipe: !found.isFile()}];
		const inside = readdirSync(path).map(file => join(path, file));
		return inside.filter(file => statSync(file).isFile()).map(file => ({path: file, isPipe: false}));
	});
}

function firstTime(path: string): string {
	return reading(path, () => {
		const handle = openSync(path, 'r');
		try {
			const head = Buffer.alloc(HEAD_BYTES);
			const length = readSync(handle, head);
			return TIME.exec(head.toString('latin1', 0, length))?.[1] ?? '';
		} finally {
			closeSync(handle);
		}
	});
}

/** The lines of files, as many at a time as a read brings. One that is too long to be read is what is left of it. */
export async function* linesOf(files: readonly LogFile[]): AsyncGenerator<Buffer[]> {
	for (const {path} of files) {
		let found: Buffer[] = [];
		const cutter = lines(MAX_LINE, {
			message: line => void found.push(line),
			parts: parts => void found.push(Buffer.concat(parts)),
			tooLarge: start => void found.push(start),
		});
		const chunks = createReadStream(path, {highWaterMark: READ_BYTES})[Symbol.asyncIterator]();
		for (;;) {
			const {done, value} = await chunks.next().catch(error => Promise.reject(unreadable(path, error)));
			if (done) break;
			cutter.push(value as Buffer);
			yield found;
			found = [];
		}
		cutter.end();
		yield found;
	}
}

function reading<T>(path: string, read: () => T): T {
	try {
		return read();
	} catch (error) {
		throw unreadable(path, error);
	}
}

const unreadable = (path: string, error: unknown): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`The log ${path} cannot be read: ${(error as Error).message}.`,
		'Name a file, or a folder of files.',
	);
