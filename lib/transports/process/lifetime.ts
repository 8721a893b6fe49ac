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

/** How a child ended. */
export type ChildExit = {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** Whether it ended by itself, was asked to by bridge, or was ended since it had closed a pipe and lived on. */
	readonly cause: 'itself' | 'asked' | 'half-closed';
};

/** A child that closed one of its pipes may be about to end. It is taken for dead when it has not by then. */
const HALF_CLOSED_MS = 500;
/** How long what a child leaves behind has to end by itself. */
const DESCENDANTS_MS = 500;
const POLL_MS = 20;
/** How long a child that was told by SIGTERM has to put things in order. */
const TERM_MS = 1000;
/** Who is not gone after so many is not to be had: a process in the midst of a system call that never ends, say. */
const MAX_KILLS = 50;
/** So often it is looked again whose a process is that does not tell. */
const MAX_UNSURE_CHECKS = 100;

/** The children that must not outlive this process, however it ends, with their marks. */
const liveChildren = new Map<number, string>();
process.on('exit', () => {
	const others = liveChildren.size > 0 ? youngerProcesses() : [];
	for (const [leader, mark] of liveChildren) signalTree(leader, mark, 'SIGKILL', others);
});

/** The life of a child, which leads a process group, and of all that it starts. */
export class ChildLifetime {
	/** Resolves when the child itself has ended, what it left behind too; fails when it could not be started. */
	readonly exited: Promise<ChildExit>;
	readonly #pid: number | undefined;
	readonly #mark: string;
	#cause: ChildExit['cause'] = 'itself';
	/** Whether it has been told to end, and may close its pipes on the way. */
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
		// Whoever cares asks for it; nobody has to.
		this.exited.catch(() => {});
	}

	/** To be told when the child closed a pipe. */
	async onHalfClosed(): Promise<void> {
		if ((await this.#endsWithin(HALF_CLOSED_MS)) || this.#isEnding) return;
		this.#signal('SIGTERM', 'half-closed');
		if (!(await this.#endsWithin(HALF_CLOSED_MS))) this.#signal('SIGKILL', 'half-closed');
	}

	/**
	 * Waits for a child that was told to end by closing its input, and makes it end if it does not in time. `hurry`
	 * resolves when there is no more time.
	 */
	async end(graceMs: number, deadline: Promise<unknown> = new Promise(() => {})): Promise<void> {
		this.#isEnding = true;
		const isDeadlineOver = deadline.then(() => false);
		if (await Promise.race([this.#endsWithin(graceMs), isDeadlineOver])) return;
		this.#signal('SIGTERM', 'asked');
		if (await this.#endsWithin(TERM_MS)) return;
		this.kill();
		await this.#endsWithin(TERM_MS);
	}

	/** Ends it, and all that it started, at once. */
	kill(): void {
		this.#signal('SIGKILL', 'asked');
	}

	#signal(signal: NodeJS.Signals, cause: ChildExit['cause']): void {
		if (this.#pid === undefined) return;
		this.#cause = cause;
		void this.#signalAll(this.#pid, signal);
	}

	/** Signals the group at once, and processes that left it when they are known. */
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

	/** What a wrapper leaves behind, the real server for one, ends with the wrapper. */
	async #endDescendants(): Promise<void> {
		if (this.#pid === undefined) return;
		const startedAt = performance.now();
		if (isTreeAlive(this.#pid, this.#mark, await readProcesses()))
			await this.#signalAll(this.#pid, 'SIGTERM');
		// Who is started later is started by somebody who is known by then.
		const endedAt = uptimeTicks();
		// Counted, not timed: on a busy machine all the time may be over before the first look.
		for (
			let kills = 0, unsureChecks = 0, goneChecks = 0;
			kills < MAX_KILLS && unsureChecks < MAX_UNSURE_CHECKS;
		) {
			const state = treeState(this.#pid, this.#mark, endedAt, await readProcesses());
			// Twice, as somebody may have been unknown when marks were looked for, and known again right after.
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
