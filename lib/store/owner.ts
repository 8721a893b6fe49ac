import {createHash} from 'node:crypto';
import {hostname} from 'node:os';
import process from 'node:process';
import {namespace, send, startOf, ticks} from '../transports/process-tree.js';

/** What is known of a process by its mark. `foreign`: it is another machine's or container's, so nobody here can tell. */
export type Liveness = 'alive' | 'dead' | 'foreign';

let known: string | undefined;

/** A mark of this process for the files that it owns: which machine, namespace and number, and since when. */
export function ownMark(): string {
	known ??= `${place()}-${process.pid}-${startOf(process.pid) ?? 0}`;
	return known;
}

/** Letters, digits and dashes, so that it can be part of a file's name. */
export const MARK_PATTERN = '[0-9a-f]{8}-\\d+-\\d+-\\d+';

const place = (): string =>
	`${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-${namespace()}`;

/** The number of the process that left a mark. */
export const pidOf = (mark: string): number => Number(/-(\d+)-\d+$/.exec(mark)?.[1]);

/** Whether the process that left a mark is still there. The number alone does not tell: it may be another's by now. */
export function livenessOf(mark: string): Liveness {
	const [, there, pid, start] = /^(.*)-(\d+)-(\d+)$/.exec(mark) ?? [];
	if (there === undefined || start === undefined) return 'dead';
	if (there !== place()) return 'foreign';
	const number = Number(pid);
	const isAlive = process.platform === 'linux' ? startOf(number) === start : send(number, 0);
	return isAlive ? 'alive' : 'dead';
}

/** The system's clock for processes ticks this often a second, wherever Node runs. */
const TICKS = 100;
const TOLERANCE_MS = 5000;

/** Whether there is a process of this number that was there at this time, for marks that say no more than that. */
export function wasThere(pid: number, at: Date): boolean {
	if (!Number.isSafeInteger(pid) || pid <= 0 || !send(pid, 0)) return false;
	if (process.platform !== 'linux') return true;
	const [now, start] = [ticks(), startOf(pid)];
	if (start === undefined) return false;
	const startedAt = Date.now() - ((now - Number(start)) / TICKS) * 1000;
	return Number.isNaN(at.getTime()) || startedAt <= at.getTime() + TOLERANCE_MS;
}
