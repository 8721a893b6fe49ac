import {type FileHandle, open} from 'node:fs/promises';
import {isIPv4} from 'node:net';
import {endianness} from 'node:os';

/** A TCP connection from the viewpoint of its local end. */
type SocketAddresses = {
	readonly localAddress: string;
	readonly localPort: number;
	readonly remoteAddress: string;
	readonly remotePort: number;
};

/**
 * A socket in the table of Linux. An inode of 0 means that no process has it open; the uid is then
 * meaningless.
 */
export type SocketRow = {readonly uid: number; readonly inode: number};

/** The rows of the wanted connections, by `socketKey`. */
export type SocketRows = ReadonlyMap<string, SocketRow>;

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** The maximum number of bytes to read from a table: about 400,000 sockets. */
const MAX_TABLE_BYTES = 64 * 2 ** 20;
/** Linux returns at most one memory page per read, and no page is larger than this. */
const CHUNK_BYTES = 64 * 1024;
/** The maximum number of concurrent reads, after the first. A read behind the end scans the whole table. */
const MAX_READS = 4;

const ROW =
	/^ *\d+: ([\dA-F]{8,32}:[\dA-F]{4}) ([\dA-F]{8,32}:[\dA-F]{4}) [\dA-F]{2} \S+ \S+ \S+ +(\d+) +\d+ (\d+) /;

/** Returns a connection in the format of the tables; undefined unless both addresses are loopback. */
export function socketKey(ends: SocketAddresses): string | undefined {
	const local = endKey(ends.localAddress, ends.localPort);
	const remote = endKey(ends.remoteAddress, ends.remotePort);
	return local === undefined || remote === undefined ? undefined : `${local} ${remote}`;
}

function endKey(address: string, port: number): string | undefined {
	const hex = addressHex(address.replace(/^::ffff:/i, ''));
	return hex && `${hex}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns the bytes of an address as Linux prints them: 32-bit words in native byte order. */
function addressHex(address: string): string | undefined {
	if (address === '::1') return `${'0'.repeat(24)}${wordHex([0, 0, 0, 1])}`;
	return isIPv4(address) ? wordHex(address.split('.').map(Number)) : undefined;
}

function wordHex(bytes: readonly number[]): string {
	const ordered = endianness() === 'LE' ? bytes.toReversed() : bytes;
	return Buffer.from(ordered).toString('hex').toUpperCase();
}

/**
 * Parses one line. IPv4-mapped IPv6 addresses are converted to IPv4: a connection from `::ffff:127.0.0.1` is
 * one from 127.0.0.1.
 */
export function parseRow(line: string): {readonly key: string; readonly row: SocketRow} | undefined {
	const [, local, remote, uid, inode] = ROW.exec(line) ?? [];
	if (local === undefined || remote === undefined) return;
	return {
		key: `${withoutMappedPrefix(local)} ${withoutMappedPrefix(remote)}`,
		row: {uid: Number(uid), inode: Number(inode)},
	};
}

/** The start of an IPv4-mapped IPv6 address. */
const MAPPED = `${'0'.repeat(16)}${wordHex([0, 0, 255, 255])}`;

const withoutMappedPrefix = (end: string): string =>
	end.startsWith(MAPPED) ? end.slice(MAPPED.length) : end;

/**
 * Reads the tables until all wanted rows are found, or to their end. Each chunk is read off the main thread.
 */
export async function findSockets(wanted: ReadonlySet<string>): Promise<SocketRows> {
	const found = new Map<string, SocketRow>();
	for (const table of TABLES) {
		if (found.size === wanted.size) break;
		const file = await openTable(table);
		if (!file) continue;
		try {
			await search(file, wanted, found);
		} finally {
			file.close().catch(() => {});
		}
	}
	return found;
}

/** A machine without IPv6 has no table for it. Without the table of IPv4, the lookup fails. */
async function openTable(table: string): Promise<FileHandle | undefined> {
	try {
		return await open(table);
	} catch (error) {
		if (table === TABLES[0]) throw error;
		return;
	}
}

/**
 * Searches a table. Each read returns a page of whole rows, so several reads run concurrently, in any order:
 * on a busy event loop, each turn costs more than a read.
 */
async function search(
	file: FileHandle,
	wanted: ReadonlySet<string>,
	found: Map<string, SocketRow>,
): Promise<void> {
	const buffers: Buffer[] = [];
	const readOne = async (buffer: Buffer): Promise<string> => {
		const {bytesRead} = await file.read(buffer, 0, CHUNK_BYTES, null);
		return buffer.toString('latin1', 0, bytesRead);
	};
	for (let read = 0; read < MAX_TABLE_BYTES && found.size < wanted.size; ) {
		const added = Math.min(MAX_READS, Math.max(1, 4 * buffers.length)) - buffers.length;
		for (let count = 0; count < added; count++) buffers.push(Buffer.allocUnsafe(CHUNK_BYTES));
		const texts = await Promise.all(buffers.map(readOne));
		for (const text of texts) {
			read += text.length;
			collect(text, wanted, found);
		}
		if (texts.includes('')) return;
	}
}

function collect(text: string, wanted: ReadonlySet<string>, found: Map<string, SocketRow>): void {
	for (const line of text.split('\n')) {
		const parsed = parseRow(line);
		if (parsed && wanted.has(parsed.key)) found.set(parsed.key, parsed.row);
	}
}

/** Whether this system lists the owners of sockets. */
export async function hasSocketTable(): Promise<boolean> {
	try {
		await (await open(TABLES[0])).close();
		return true;
	} catch {
		return false;
	}
}
