import {readdirSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import process from 'node:process';

/**
 * The variable that marks all that a bridge starts, with the bridge that did. It is handed down from parent to child, so
 * a process is known by it even when it left its group, and when the bridge that started it was killed.
 */
export const MARK_VARIABLE = 'BRIDGE_OWNER';

/** A mark of this process for one child: which process, in which namespace, since when, and which child of its. */
export const createMark = (): string => `${ownIdentity()}:${Math.random().toString(36).slice(2)}`;

/** The marks that a child gets: its own after those of this process, which may itself be the child of a bridge. */
export const inheritedMarks = (mark: string): string =>
	[process.env[MARK_VARIABLE], mark].filter(Boolean).join(' ');

const ownIdentity = (): string => `${pidNamespace()}:${process.pid}:${startTimeOf(process.pid) ?? 0}`;

/** When a process started, by the system's own count; undefined if it is dead, or where the system does not tell. */
export const startTimeOf = (pid: number): string | undefined => readProcess(pid)?.start;

/** Process numbers mean something in one namespace only: a container's bridge must not be taken for a dead one. */
export function pidNamespace(): string {
	try {
		return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
	} catch {
		return '0';
	}
}

/** Sends a signal to a child, its group, and whatever else has its mark. */
export function signalTree(
	leader: number,
	mark: string,
	signal: NodeJS.Signals,
	candidates = youngerProcesses(),
): void {
	sendSignal(-leader, signal);
	signalMarked(leader, mark, signal, candidates);
}

/** Sends a signal to the listed processes that have the mark of a child, its group left out. */
export function signalMarked(
	leader: number,
	mark: string,
	signal: NodeJS.Signals,
	candidates: ProcessInfo[],
): void {
	for (const other of candidates)
		if (other.group !== leader && marksIn(other).includes(mark)) sendSignal(other.pid, signal);
}

/** Whether somebody is left of a child's group, or of whatever else has its mark. */
export const isTreeAlive = (leader: number, mark: string, candidates = youngerProcesses()): boolean =>
	// Where the system tells of each process, the dead do not count that nobody has taken note of.
	process.platform === 'linux'
		? candidates.some(other => isOfTree(other, leader, mark))
		: sendSignal(-leader, 0);

/**
 * The same, where it matters who cannot be known: `unsure` when there is a process, started in the time of this one and no
 * later than `until`, of which nobody can tell whose it is. While a program is loaded into it, and again when it is on its
 * way out, a process has neither environment nor arguments.
 */
export function treeState(
	leader: number,
	mark: string,
	until: number,
	candidates = youngerProcesses(),
): 'alive' | 'unsure' | 'gone' {
	if (process.platform !== 'linux') return isTreeAlive(leader, mark) ? 'alive' : 'gone';
	if (candidates.some(other => isOfTree(other, leader, mark))) return 'alive';
	return candidates.some(other => Number(other.start) <= until && isBareProcess(other)) ? 'unsure' : 'gone';
}

const isOfTree = (other: ProcessInfo, leader: number, mark: string): boolean =>
	other.group === leader || marksIn(other).includes(mark);

/** The marks of a listed process, read once for all users of the same list. */
function marksIn(other: ProcessInfo): readonly string[] {
	other.marks ??= marksOf(other.pid);
	return other.marks;
}

function isBareProcess(other: ProcessInfo): boolean {
	other.isBare ??= isBare(other.pid);
	return other.isBare;
}

/** The time by the clock that processes are told to have started by, in hundredths of a second. */
export function uptimeTicks(): number {
	try {
		return Math.ceil(Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * 100);
	} catch {
		return 0;
	}
}

/** The processes that a bridge started which is no more. */
export function findOrphans(): number[] {
	const namespacePrefix = `${pidNamespace()}:`;
	return livingProcesses()
		.map(({pid}) => pid)
		.filter(pid => {
			const mark = marksOf(pid).at(-1);
			return mark?.startsWith(namespacePrefix) && !isOwnerAlive(mark);
		});
}

function isOwnerAlive(mark: string): boolean {
	const [, pid, start] = mark.split(':');
	return startTimeOf(Number(pid)) === start;
}

/** Sends a signal to one process, or with a negative number to a group. Returns whether there was somebody. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
	try {
		return process.kill(pid, signal);
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}

/** A process: its number, its group, and when it started, which tells it from a later one with the same number. */
export type ProcessInfo = {
	readonly pid: number;
	readonly group: number;
	readonly start: string | undefined;
	/** What was read of it so far. */
	marks?: readonly string[];
	isBare?: boolean;
};

const KERNEL_THREAD = 0x200000;

/** Every process that is not older than this one. No other can be of its making, so the rest need not be looked into. */
export function youngerProcesses(): ProcessInfo[] {
	const startedAt = Number(startTimeOf(process.pid) ?? 0);
	return livingProcesses().filter(({start}) => Number(start) >= startedAt);
}

/** Every other process that is not dead, the threads of the kernel's left out. None where the system does not tell, as only Linux does. */
function livingProcesses(): ProcessInfo[] {
	let names: string[] = [];
	try {
		names = readdirSync('/proc');
	} catch {}
	return names
		.map(Number)
		.filter(pid => pid > 0 && pid !== process.pid)
		.map(readProcess)
		.filter(found => found !== undefined);
}

function readProcess(pid: number): ProcessInfo | undefined {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		// Behind the name, which may hold anything: state, parent, group, …, flags, …, and the start as the twentieth.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		if (fields[0] === 'Z' || (Number(fields[6]) & KERNEL_THREAD) !== 0) return;
		return {pid, group: Number(fields[2]), start: fields[19]};
	} catch {
		return;
	}
}

function isBare(pid: number): boolean {
	try {
		return ['environ', 'cmdline'].every(file => readFileSync(`/proc/${pid}/${file}`, 'latin1') === '');
	} catch {
		// It is somebody else's, or it is gone.
		return false;
	}
}

/** The marks of a process of this user's, the one of whoever started it last. */
function marksOf(pid: number): string[] {
	try {
		if (statSync(`/proc/${pid}`).uid !== process.getuid?.()) return [];
		const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
		const at = environment.indexOf(`\0${MARK_VARIABLE}=`);
		if (at === -1) return [];
		const start = at + MARK_VARIABLE.length + 2;
		return environment.slice(start, environment.indexOf('\0', start)).split(' ');
	} catch {
		return [];
	}
}
