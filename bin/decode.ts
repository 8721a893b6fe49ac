import {createReadStream, readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {BridgeError} from '../lib/errors.js';
import {connIdIn, Decoder} from '../lib/store/decode.js';
import {ownStdout} from '../lib/transports/own-stdout.js';
import {lines} from '../lib/wire/lines.js';
import type {Flags} from './flags.js';
import {ownLog} from './observers.js';
import type {Stop} from './signals.js';
import {invalid} from './values.js';

const READ_BYTES = 2 ** 20;
const MAX_LINE = 512 * 2 ** 20;
/** So many ids are enough to choose from. */
const MAX_IDS = 20;

/** `bridge decode LOG`: the bytes of one connection, as they passed. */
export async function runDecode([, ...names]: readonly string[], flags: Flags, stop: Stop): Promise<number> {
	if (names.length === 0) throw invalid('decode has to know which log.', 'Write: bridge decode LOG');
	const files = names.flatMap(filesOf);
	const conn = flags.conn ?? (await onlyConnection(files));
	const decoder = new Decoder(conn, flags.direction);
	const printed = await Promise.race([print(decoder, files), stop.asked.then(() => 'stopped' as const)]);
	if (printed === 'unread') return 0;
	if (printed === 'stopped') return 1;
	if (!decoder.isFound) throw unknown(conn);
	return tell(decoder, flags);
}

/** Prints all of it, or what somebody reads of it. */
async function print(decoder: Decoder, files: readonly string[]): Promise<'all' | 'unread'> {
	const write = ownStdout();
	for await (const chunk of linesOf(files)) {
		const parts = chunk.flatMap(line => decoder.decode(line) ?? []);
		const isRead = await write(Buffer.concat(parts)).then(
			() => true,
			() => false,
		);
		if (!isRead) return 'unread';
	}
	return 'all';
}

/** Says what is missing, which is the exit code as well. */
async function tell({missingLines, brokenLines}: Decoder, flags: Flags): Promise<number> {
	const {log, stderr} = ownLog(flags);
	if (missingLines > 0)
		log.error('decode.gap', `${missingLines} lines of the log are missing: what is printed is not all.`);
	if (brokenLines > 0)
		log.warn('decode.broken', `${brokenLines} lines could not be read, and were left out.`);
	await log.flush();
	await stderr.close();
	return missingLines > 0 ? 1 : 0;
}

/** The files of a log: itself, or those of a folder in the order of their names, which is that of time. */
function filesOf(name: string): string[] {
	const path = name.replace(/^@/, '');
	try {
		if (!statSync(path).isDirectory()) return [path];
		return readdirSync(path)
			.sort()
			.map(file => join(path, file));
	} catch (error) {
		throw invalid(
			`The log cannot be read: ${(error as Error).message}.`,
			'Name a file, or a folder of files.',
		);
	}
}

/** The lines of files, as many at a time as a read brings. */
async function* linesOf(files: readonly string[]): AsyncGenerator<Buffer[]> {
	for (const file of files) {
		let found: Buffer[] = [];
		const cutter = lines(MAX_LINE, {
			message: line => void found.push(line),
			parts: parts => void found.push(Buffer.concat(parts)),
			tooLarge: () => {},
		});
		for await (const chunk of createReadStream(file, {highWaterMark: READ_BYTES})) {
			cutter.push(chunk as Buffer);
			yield found;
			found = [];
		}
		cutter.end();
		yield found;
	}
}

/** The id of the connection that is meant where none is named. */
async function onlyConnection(files: readonly string[]): Promise<string> {
	const ids = new Set<string>();
	for await (const chunk of linesOf(files)) {
		for (const line of chunk) {
			const id = connIdIn(line);
			if (id !== undefined) ids.add(id);
		}
		if (ids.size > MAX_IDS) break;
	}
	const [only] = ids;
	if (only !== undefined && ids.size === 1) return only;
	if (only === undefined)
		throw new BridgeError('ERR_UPSTREAM_INVALID', 'There is no connection in the log.', '');
	const some = [...ids].slice(0, MAX_IDS).join(', ');
	throw invalid(
		`There are several connections in the log: ${some}${ids.size > MAX_IDS ? ', …' : ''}.`,
		'Name one with --conn ID.',
	);
}

const unknown = (conn: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`There is no connection ${conn} in the log.`,
		'Its ids are what ConnID is in each line.',
	);
