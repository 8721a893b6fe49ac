import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable} from 'node:stream';
import split2 from 'split2';
import type {Command} from './peers.js';

/** The scope that stops its processes, such as a test. */
export interface Owner {
	readonly teardown: (end: () => unknown) => void;
}

/** A program that listens on the port that it printed. */
export interface Listening {
	readonly port: number;
	readonly pid: number;
	/** The output so far, truncated at the front. */
	readonly text: () => string;
	/** Resolves when the program writes, or has written, a matching line. */
	printed(line: RegExp): Promise<void>;
	/** Sends a signal, and waits for the exit. */
	stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const maxRemembered = 100_000;

/** The lines that a program writes, with the pending waits for them. */
class Lines {
	readonly #child: ChildProcess;
	readonly #waiting = new Map<(found: RegExpExecArray) => void, RegExp>();
	#text = '';

	constructor(child: ChildProcess, outputs: readonly Readable[]) {
		this.#child = child;
		for (const output of outputs) output.pipe(split2()).on('data', line => this.#take(line));
	}

	get text(): string {
		return this.#text;
	}

	/** Resolves with the first matching line, including those already written. */
	first(pattern: RegExp): Promise<RegExpExecArray> {
		return new Promise((resolve, reject) => {
			const before = pattern.exec(this.#text);
			if (before) return resolve(before);
			this.#waiting.set(resolve, pattern);
			this.#child.once('error', reject);
			this.#child.once('exit', code => reject(new Error(`The program exited with ${code}: ${this.#text}`)));
			return;
		});
	}

	#take(line: string): void {
		this.#text = `${this.#text}${line}\n`.slice(-maxRemembered);
		for (const [resolve, pattern] of this.#waiting) {
			const found = pattern.exec(line);
			if (found) {
				this.#waiting.delete(resolve);
				resolve(found);
			}
		}
	}
}

/**
 * Starts a program, and waits until it prints its port on stdout or stderr: the first group of
 * `announcement`.
 */
export async function startListening(
	t: Owner,
	{command, args, env}: Command,
	announcement: RegExp,
): Promise<Listening> {
	const child = spawn(command, args, {stdio: ['ignore', 'pipe', 'pipe'], env: {...process.env, ...env}});
	const lines = new Lines(child, [child.stdout, child.stderr]);
	t.teardown(() => child.kill('SIGKILL'));
	const [, port] = await lines.first(announcement);
	return {
		port: Number(port),
		pid: child.pid ?? -1,
		text: () => lines.text,
		printed: async line => void (await lines.first(line)),
		stop: signal => stop(child, signal),
	};
}

async function stop(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const ended = once(child, 'exit');
	child.kill(signal);
	await ended;
}
