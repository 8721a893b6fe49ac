import {createHash} from 'node:crypto';
import {hostname} from 'node:os';
import process from 'node:process';
import {pidNamespace, sendSignal, startTimeOf, uptimeTicks} from '../util/process-tree.js';

/**
 * The state of a process. `foreign` processes belong to another machine or container and cannot be checked.
 */
export type Liveness = 'alive' | 'dead' | 'foreign';

let cachedIdentity: string | undefined;

/** Returns an identity of this process for files that it owns: host, PID namespace, pid and start time. */
export function ownProcessIdentity(): string {
	cachedIdentity ??= `${hostAndNamespace()}-${process.pid}-${startTimeOf(process.pid) ?? 0}`;
	return cachedIdentity;
}

/** Contains only letters, digits and dashes, so that identities can be part of file names. */
export const PROCESS_IDENTITY_PATTERN = '[0-9a-f]{8}-\\d+-\\d+-\\d+';

const hostAndNamespace = (): string =>
	`${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-${pidNamespace()}`;

export const pidOfIdentity = (identity: string): number => Number(/-(\d+)-\d+$/.exec(identity)?.[1]);

/**
 * Returns whether the process with this identity is alive. The pid alone is not enough, since pids are
 * reused.
 */
export function livenessOf(identity: string): Liveness {
	const [, host, pid, start] = /^(.*)-(\d+)-(\d+)$/.exec(identity) ?? [];
	if (host === undefined || start === undefined) return 'dead';
	if (host !== hostAndNamespace()) return 'foreign';
	const pidNumber = Number(pid);
	const isAlive = process.platform === 'linux' ? startTimeOf(pidNumber) === start : sendSignal(pidNumber, 0);
	return isAlive ? 'alive' : 'dead';
}

/** The kernel's clock ticks per second, on all platforms that Node supports. */
const TICKS_PER_SECOND = 100;
const TOLERANCE_MS = 5000;

/**
 * Whether a process with this pid is running that was already running at this time. For identities that
 * contain only these two.
 */
export function wasProcessRunningAt(pid: number, time: Date): boolean {
	if (!Number.isSafeInteger(pid) || pid <= 0 || !sendSignal(pid, 0)) return false;
	if (process.platform !== 'linux') return true;
	const [now, start] = [uptimeTicks(), startTimeOf(pid)];
	if (start === undefined) return false;
	const startedAt = Date.now() - ((now - Number(start)) / TICKS_PER_SECOND) * 1000;
	return Number.isNaN(time.getTime()) || startedAt <= time.getTime() + TOLERANCE_MS;
}
