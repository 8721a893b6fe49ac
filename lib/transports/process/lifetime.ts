import type {ChildProcess} from 'node:child_process';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {pause} from '../../util/pause.js';
import {
	isTreeAlive,
	sendSignal,
	signalMarked,
	signalTree,
	treeState,
	uptimeTicks,
	youngerProcesses,
} from '../../util/process-tree.js';
import {readProcesses} from './process-list.js';

export type ChildExit = {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** Whether it exited by itself, on request of bridge, or was terminated because it had closed a pipe. */
	readonly cause: 'itself' | 'requested' | 'half-closed';
};

/** How long a child that closed one of its pipes may take to exit before it is terminated. */
const HALF_CLOSED_MS = 500;
/** How long descendants may outlive the child before they are killed. */
const DESCENDANTS_MS = 500;
const POLL_MS = 20;
/** How long a child may take to exit after SIGTERM. */
const TERM_MS = 1000;
/** Rounds of SIGKILL before bridge gives up, for example on a process in an uninterruptible system call. */
const MAX_KILLS = 50;
/** Checks before bridge gives up on processes whose marks cannot be read. */
const MAX_UNSURE_CHECKS = 100;

/** The marks of running children, by process id. All are killed when this process exits. */
const liveChildren = new Map<number, string>();
process.on('exit', () => {
	const others = liveChildren.size > 0 ? youngerProcesses() : [];
	for (const [leader, mark] of liveChildren) signalTree(leader, mark, 'SIGKILL', others);
});

/** Supervises a child, which leads a process group, and all its descendants. */
export class ChildLifetime {
	/** Resolves when the child and its descendants have exited. Rejects when the child could not be started. */
	readonly exited: Promise<ChildExit>;
	readonly #pid: number | undefined;
	readonly #mark: string;
	#cause: ChildExit['cause'] = 'itself';
	/** Whether `end` was called. From then on the child may close its pipes. */
	#isEnding = false;

	constructor(childProcess: ChildProcess, mark: string) {
		this.#pid = childProcess.pid;
		this.#mark = mark;
		if (childProcess.pid !== undefined) liveChildren.set(childProcess.pid, mark);
		this.exited = new Promise<ChildExit>((resolve, reject) => {
			childProcess.once('error', reject);
			childProcess.once('exit', (code, signal) => {
				const exit = {code, signal, cause: this.#cause};
				void this.#endDescendants().then(() => resolve(exit));
			});
		});
		// Prevents an unhandled rejection if no caller awaits `exited`.
		this.exited.catch(() => {});
	}

	/** To be called when the child has closed a pipe. */
	async onHalfClosed(): Promise<void> {
		if ((await this.#endsWithin(HALF_CLOSED_MS)) || this.#isEnding) return;
		this.#signal('SIGTERM', 'half-closed');
		if (!(await this.#endsWithin(HALF_CLOSED_MS))) this.#signal('SIGKILL', 'half-closed');
	}

	/** Waits for the exit of a child whose input was closed. Terminates it after `graceMs` or `deadline`. */
	async end(graceMs: number, deadline: Promise<unknown> = new Promise(() => {})): Promise<void> {
		this.#isEnding = true;
		const isDeadlineOver = deadline.then(() => false);
		if (await Promise.race([this.#endsWithin(graceMs), isDeadlineOver])) return;
		this.#signal('SIGTERM', 'requested');
		if (await this.#endsWithin(TERM_MS)) return;
		this.kill();
		await this.#endsWithin(TERM_MS);
	}

	kill(): void {
		this.#signal('SIGKILL', 'requested');
	}

	#signal(signal: NodeJS.Signals, cause: ChildExit['cause']): void {
		if (this.#pid === undefined) return;
		this.#cause = cause;
		void this.#signalAll(this.#pid, signal);
	}

	/** Signals the group immediately, and processes that left the group once the process list is read. */
	async #signalAll(pid: number, signal: NodeJS.Signals): Promise<void> {
		sendSignal(-pid, signal);
		signalMarked(pid, this.#mark, signal, await readProcesses());
	}

	async #endsWithin(ms: number): Promise<boolean> {
		const ended = this.exited.then(
			() => true,
			() => true,
		);
		return Promise.race([ended, pause(ms).then(() => false)]);
	}

	/** Terminates processes that outlive the child, such as the real server behind a wrapper script. */
	async #endDescendants(): Promise<void> {
		if (this.#pid === undefined) return;
		const startedAt = performance.now();
		if (isTreeAlive(this.#pid, this.#mark, await readProcesses()))
			await this.#signalAll(this.#pid, 'SIGTERM');
		// A process that is started later has a parent that is tracked already.
		const endedAt = uptimeTicks();
		// Bounded by counts, not by time: on a busy machine a timeout could expire before the first check.
		for (
			let kills = 0, unsureChecks = 0, goneChecks = 0;
			kills < MAX_KILLS && unsureChecks < MAX_UNSURE_CHECKS;
		) {
			const state = treeState(this.#pid, this.#mark, endedAt, await readProcesses());
			// Checked twice: a process without a readable mark at the first check may have one right after it.
			goneChecks = state === 'gone' ? goneChecks + 1 : 0;
			if (goneChecks === 2) break;
			if (state !== 'alive') unsureChecks++;
			await sleep(POLL_MS);
			if (performance.now() - startedAt < DESCENDANTS_MS) continue;
			await this.#signalAll(this.#pid, 'SIGKILL');
			kills++;
		}
		liveChildren.delete(this.#pid);
	}
}
