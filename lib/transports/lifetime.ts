import type {ChildProcess} from 'node:child_process';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {pause} from '../pause.js';
import {isTreeAlive, lookForTree, send, signalMarked, signalTree, ticks, younger} from './process-tree.js';
import {lookAround} from './shared-look.js';

/** How a child ended. */
export type Exit = {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** Whether it ended by itself, was asked to by bridge, or was ended since it had closed a pipe and lived on. */
	readonly cause: 'itself' | 'asked' | 'half-closed';
};

/** A child that closed one of its pipes may be about to end. It is taken for dead when it has not by then. */
const HALF_CLOSED_MS = 500;
/** How long what a child leaves behind has to end by itself. */
const REST_MS = 500;
const POLL_MS = 20;
/** How long a child that was told by SIGTERM has to put things in order. */
const TERM_MS = 1000;
/** Who is not gone after so many is not to be had: a process in the midst of a system call that never ends, say. */
const MAX_KILLS = 50;
/** So often it is looked again whose a process is that does not tell. */
const MAX_DOUBTS = 100;

/** The children that must not outlive this process, however it ends, with their marks. */
const leaders = new Map<number, string>();
process.on('exit', () => {
	const others = leaders.size > 0 ? younger() : [];
	for (const [leader, mark] of leaders) signalTree(leader, mark, 'SIGKILL', others);
});

/** The life of a child, which leads a process group, and of all that it starts. */
export class Lifetime {
	/** Resolves when the child itself has ended, what it left behind too; fails when it could not be started. */
	readonly exited: Promise<Exit>;
	readonly #pid: number | undefined;
	readonly #mark: string;
	#cause: Exit['cause'] = 'itself';
	/** Whether it has been told to end, and may close its pipes on the way. */
	#isAsked = false;

	constructor(server: ChildProcess, mark: string) {
		this.#pid = server.pid;
		this.#mark = mark;
		if (server.pid !== undefined) leaders.set(server.pid, mark);
		this.exited = new Promise<Exit>((resolve, reject) => {
			server.once('error', reject);
			server.once('exit', (code, signal) => {
				const exit = {code, signal, cause: this.#cause};
				void this.#endRest().then(() => resolve(exit));
			});
		});
		// Whoever cares asks for it; nobody has to.
		this.exited.catch(() => {});
	}

	/** To be told when the child closed a pipe. */
	async halfClosed(): Promise<void> {
		if ((await this.#endsWithin(HALF_CLOSED_MS)) || this.#isAsked) return;
		this.#signal('SIGTERM', 'half-closed');
		if (!(await this.#endsWithin(HALF_CLOSED_MS))) this.#signal('SIGKILL', 'half-closed');
	}

	/**
	 * Waits for a child that was told to end by closing its input, and makes it end if it does not in time. `hurry`
	 * resolves when there is no more time.
	 */
	async end(graceMs: number, hurry: Promise<unknown> = new Promise(() => {})): Promise<void> {
		this.#isAsked = true;
		const isLate = hurry.then(() => false);
		if (await Promise.race([this.#endsWithin(graceMs), isLate])) return;
		this.#signal('SIGTERM', 'asked');
		if (await this.#endsWithin(TERM_MS)) return;
		this.kill();
		await this.#endsWithin(TERM_MS);
	}

	/** Ends it, and all that it started, at once. */
	kill(): void {
		this.#signal('SIGKILL', 'asked');
	}

	#signal(signal: NodeJS.Signals, cause: Exit['cause']): void {
		if (this.#pid === undefined) return;
		this.#cause = cause;
		void this.#signalAll(this.#pid, signal);
	}

	/** Signals the group at once, and processes that left it when they are known. */
	async #signalAll(pid: number, signal: NodeJS.Signals): Promise<void> {
		send(-pid, signal);
		signalMarked(pid, this.#mark, signal, await lookAround());
	}

	async #endsWithin(ms: number): Promise<boolean> {
		const ended = this.exited.then(
			() => true,
			() => true,
		);
		return Promise.race([ended, pause(ms).then(() => false)]);
	}

	/** What a wrapper leaves behind, the real server for one, ends with the wrapper. */
	async #endRest(): Promise<void> {
		if (this.#pid === undefined) return;
		const started = performance.now();
		if (isTreeAlive(this.#pid, this.#mark, await lookAround())) await this.#signalAll(this.#pid, 'SIGTERM');
		// Who is started later is started by somebody who is known by then.
		const ended = ticks();
		// Counted, not timed: on a busy machine all the time may be over before the first look.
		for (let kills = 0, doubts = 0, calm = 0; kills < MAX_KILLS && doubts < MAX_DOUBTS; ) {
			const found = lookForTree(this.#pid, this.#mark, ended, await lookAround());
			// Twice, as somebody may have been unknown when marks were looked for, and known again right after.
			calm = found === 'gone' ? calm + 1 : 0;
			if (calm === 2) break;
			if (found !== 'alive') doubts++;
			await sleep(POLL_MS);
			if (performance.now() - started < REST_MS) continue;
			await this.#signalAll(this.#pid, 'SIGKILL');
			kills++;
		}
		leaders.delete(this.#pid);
	}
}
