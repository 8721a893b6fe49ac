import {readdirSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import process from 'node:process';

/**
 * The environment variable that marks all processes started by a bridge. Children inherit it, so a process is
 * recognized even after it left its group, or after its bridge was killed.
 */
export const MARK_VARIABLE = 'BRIDGE_OWNER';

/** Creates a mark for one child: PID namespace, pid and start time of this process, and a random part. */
export const createMark = (): string => `${ownIdentity()}:${Math.random().toString(36).slice(2)}`;

/**
 * The marks that a child gets: those of this process, which may itself be a child of a bridge, then its own.
 */
export const inheritedMarks = (mark: string): string =>
	[process.env[MARK_VARIABLE], mark].filter(Boolean).join(' ');

const ownIdentity = (): string => `${pidNamespace()}:${process.pid}:${startTimeOf(process.pid) ?? 0}`;

/**
 * The start time of a process in clock ticks since boot; undefined if it is dead or /proc is not available.
 */
export const startTimeOf = (pid: number): string | undefined => readProcess(pid)?.start;

/**
 * The PID namespace. Pids are valid only within one: a bridge in a container must not be mistaken for a dead
 * one.
 */
export function pidNamespace(): string {
	try {
		return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
	} catch {
		return '0';
	}
}

/** Sends a signal to a child's process group and to all other processes with its mark. */
export function signalTree(
	leader: number,
	mark: string,
	signal: NodeJS.Signals,
	candidates = youngerProcesses(),
): void {
	sendSignal(-leader, signal);
	signalMarked(leader, mark, signal, candidates);
}

/** Sends a signal to the candidates with the mark of a child, except those in its process group. */
export function signalMarked(
	leader: number,
	mark: string,
	signal: NodeJS.Signals,
	candidates: ProcessInfo[],
): void {
	for (const other of candidates)
		if (other.group !== leader && marksIn(other).includes(mark)) sendSignal(other.pid, signal);
}

/** Whether any process of a child's group or with its mark is alive. */
export const isTreeAlive = (leader: number, mark: string, candidates = youngerProcesses()): boolean =>
	// With /proc, zombies are not counted.
	process.platform === 'linux'
		? candidates.some(other => isOfTree(other, leader, mark))
		: sendSignal(-leader, 0);

/**
 * Returns whether a child's tree is alive. `unsure` means that the owner of a process started no later than
 * `until` cannot be determined. During exec and while exiting, a process has neither environment nor
 * arguments.
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

/** The marks of a process, cached for all users of the same list. */
function marksIn(other: ProcessInfo): readonly string[] {
	other.marks ??= marksOf(other.pid);
	return other.marks;
}

function isBareProcess(other: ProcessInfo): boolean {
	other.isBare ??= isBare(other.pid);
	return other.isBare;
}

/** The uptime in clock ticks (hundredths of a second), as in process start times. */
export function uptimeTicks(): number {
	try {
		return Math.ceil(Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * 100);
	} catch {
		return 0;
	}
}

/** Returns the pids of processes whose bridge is dead. */
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

/** Sends a signal to a process, or to a group if the number is negative. Returns whether it exists. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
	try {
		return process.kill(pid, signal);
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}

/** A process. The start time distinguishes it from a later process with the same pid. */
export type ProcessInfo = {
	readonly pid: number;
	readonly group: number;
	readonly start: string | undefined;
	/** Read on first use. */
	marks?: readonly string[];
	isBare?: boolean;
};

const KERNEL_THREAD = 0x200000;

/** Returns the processes that are not older than this one. Older ones cannot be its descendants. */
export function youngerProcesses(): ProcessInfo[] {
	const startedAt = Number(startTimeOf(process.pid) ?? 0);
	return livingProcesses().filter(({start}) => Number(start) >= startedAt);
}

/** Returns all other live processes, without kernel threads. Empty on systems other than Linux. */
function livingProcesses(): ProcessInfo[] {
	let names: string[] = [];
	try {
		names = readdirSync('/proc');
	} catch {}
	return names
		.map(Number)
		.filter(pid => pid > 0 && pid !== process.pid)
		.map(readProcess)
		.filter(info => info !== undefined);
}

function readProcess(pid: number): ProcessInfo | undefined {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		// The fields after the name, which may contain any characters. Start time is the twentieth of them.
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
		// The process belongs to another user or has exited.
		return false;
	}
}

/** Returns the marks of a process of this user. The last one is from the bridge that started it last. */
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
