import {createHash} from 'node:crypto';
import {hostname} from 'node:os';
import process from 'node:process';
import {pidNamespace, sendSignal, startTimeOf, uptimeTicks} from '../util/process-tree.js';

/** What is known of a process by its mark. `foreign`: it is another machine's or container's, so nobody here can tell. */
export type Liveness = 'alive' | 'dead' | 'foreign';

let cachedIdentity: string | undefined;

/** A mark of this process for the files that it owns: which machine, namespace and number, and since when. */
export function ownProcessIdentity(): string {
	cachedIdentity ??= `${hostAndNamespace()}-${process.pid}-${startTimeOf(process.pid) ?? 0}`;
	return cachedIdentity;
}

/** Letters, digits and dashes, so that it can be part of a file's name. */
export const PROCESS_IDENTITY_PATTERN = '[0-9a-f]{8}-\\d+-\\d+-\\d+';

const hostAndNamespace = (): string =>
	`${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-${pidNamespace()}`;

/** The number of the process that left a mark. */
export const pidOfIdentity = (identity: string): number => Number(/-(\d+)-\d+$/.exec(identity)?.[1]);

/** Whether the process that left a mark is still there. The number alone does not tell: it may be another's by now. */
export function livenessOf(identity: string): Liveness {
	const [, host, pid, start] = /^(.*)-(\d+)-(\d+)$/.exec(identity) ?? [];
	if (host === undefined || start === undefined) return 'dead';
	if (host !== hostAndNamespace()) return 'foreign';
	const pidNumber = Number(pid);
	const isAlive = process.platform === 'linux' ? startTimeOf(pidNumber) === start : sendSignal(pidNumber, 0);
	return isAlive ? 'alive' : 'dead';
}

/** The system's clock for processes ticks this often a second, wherever Node runs. */
const TICKS_PER_SECOND = 100;
const TOLERANCE_MS = 5000;

/** Whether there is a process of this number that was there at this time, for marks that say no more than that. */
export function wasProcessRunningAt(pid: number, time: Date): boolean {
	if (!Number.isSafeInteger(pid) || pid <= 0 || !sendSignal(pid, 0)) return false;
	if (process.platform !== 'linux') return true;
	const [now, start] = [uptimeTicks(), startTimeOf(pid)];
	if (start === undefined) return false;
	const startedAt = Date.now() - ((now - Number(start)) / TICKS_PER_SECOND) * 1000;
	return Number.isNaN(time.getTime()) || startedAt <= time.getTime() + TOLERANCE_MS;
}
