import {readdir, readFile, readlink} from 'node:fs/promises';
import {BridgeError} from '../core/errors.js';

/** The maximum number of processes to search, and of open files per process. */
const MAX_PROCESSES = 20_000;
const MAX_FILES = 4096;
const LISTENING = '0A';

/** Finds the process that listens on a port. Works on Linux, for processes of this user. */
export async function findListeningProcess(port: number): Promise<string | undefined> {
	try {
		const inodes = await listeningSockets(port);
		if (inodes.size === 0) return;
		const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).slice(0, MAX_PROCESSES);
		for (const pid of pids)
			if (await hasOpenFile(pid, inodes)) return `${await processTitle(pid)} (process ${pid})`;
	} catch {
		// Another system, or processes are hidden.
	}
	return;
}

/**
 * Adds the listening process to the remedy of an EADDRINUSE error. The details of the error contain the port.
 */
export async function withListeningProcess(error: unknown): Promise<unknown> {
	if (!(error instanceof BridgeError) || error.details.code !== 'EADDRINUSE') return error;
	const listener = await findListeningProcess(Number(error.details.port));
	if (listener === undefined) return error;
	return new BridgeError(
		error.code,
		error.message,
		`${listener} listens on it. ${error.remedy}`,
		error.details,
	);
}

/** Returns the sockets that listen on a port, in the format of links to open files. */
async function listeningSockets(port: number): Promise<ReadonlySet<string>> {
	const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
	const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map(file => readFile(file, 'latin1').catch(() => ''));
	const rows = (await Promise.all(tables)).flatMap(table =>
		table.split('\n').map(line => line.trim().split(/ +/)),
	);
	return new Set(
		rows
			.filter(([, address, , state]) => address?.endsWith(local) && state === LISTENING)
			.map(columns => `socket:[${columns[9]}]`),
	);
}

async function hasOpenFile(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
	// Processes of other users cannot be read.
	const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
	for (const file of files.slice(0, MAX_FILES)) {
		const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => '');
		if (inodes.has(target)) return true;
	}
	return false;
}

/**
 * Returns the title of a process without its arguments, which may contain secrets. bridge sets its own title.
 */
async function processTitle(pid: string): Promise<string> {
	const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
	const [first = ''] = line.split('\0', 1);
	if (/^bridge(?: [a-z-]+)?(?:: .*)?$/.test(first)) return first;
	return (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim() || 'a process';
}
