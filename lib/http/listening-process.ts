import {readdir, readFile, readlink} from 'node:fs/promises';
import {BridgeError} from '../core/errors.js';

/** Processes whose open files are searched, and open files of one process. */
const MAX_PROCESSES = 20_000;
const MAX_FILES = 4096;
const LISTENING = '0A';

/** Finds the process that listens on a port, where the system reveals it: on Linux, among the processes of this user. */
export async function findListeningProcess(port: number): Promise<string | undefined> {
	try {
		const inodes = await listeningSockets(port);
		if (inodes.size === 0) return;
		const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).slice(0, MAX_PROCESSES);
		for (const pid of pids)
			if (await hasOpenFile(pid, inodes)) return `${await processTitle(pid)} (process ${pid})`;
	} catch {
		// Another system, or one that hides its processes.
	}
	return;
}

/** An error of a taken port, with that process in its remedy. The details of the error contain the port and the code. */
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

/** The sockets that listen on a port, as links to open files name them. */
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

/** The title of a process without its arguments, which may contain secrets. bridge names itself in it. */
async function processTitle(pid: string): Promise<string> {
	const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
	const [first = ''] = line.split('\0', 1);
	if (/^bridge(?: [a-z-]+)?(?:: .*)?$/.test(first)) return first;
	return (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim() || 'a process';
}
