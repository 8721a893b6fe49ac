import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable, Writable} from 'node:stream';
import type {ExecutionContext} from 'ava';
import type {Command} from './peers.js';

export interface Ending {
	readonly code: number | null;
	readonly signal: string | null;
	readonly stdout: Buffer;
	readonly stderr: string;
}

/** A client that sends and receives lines as bytes, without parsing them. */
export class LineClient {
	readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
	readonly #stdout: Buffer[] = [];
	readonly #stderr: Buffer[] = [];
	readonly #closed: Promise<unknown[]>;
	#lines = 0;

	constructor(t: ExecutionContext, {command, args, env}: Command) {
		this.#child = spawn(command, args, {stdio: 'pipe', env: {...process.env, ...env}});
		this.#closed = once(this.#child, 'close');
		this.#child.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
		this.#child.stdout.on('data', (chunk: Buffer) => {
			this.#stdout.push(chunk);
			this.#lines += chunk.filter(byte => byte === 0x0a).length;
			this.#child.emit('lines');
		});
		// Only a failed test leaves it running.
		t.teardown(() => this.#child.kill('SIGKILL'));
	}

	write(bytes: string | Uint8Array): void {
		this.#child.stdin.write(bytes);
	}

	/** Resolves when the server has sent `count` lines in total. */
	async received(count: number): Promise<void> {
		while (this.#lines < count) {
			const ended = await Promise.race([
				once(this.#child, 'lines').then(() => false),
				this.#closed.then(() => true),
			]);
			if (ended && this.#lines < count) {
				throw new Error(
					`The process exited after ${this.#lines} of ${count} lines: ${Buffer.concat(this.#stderr)}`,
				);
			}
		}
	}

	/** Closes stdin, and waits for the exit. */
	async close(): Promise<Ending> {
		this.#child.stdin.end();
		return this.ended();
	}

	/** Waits until all processes that inherited stdout and stderr have exited. */
	async ended(): Promise<Ending> {
		await this.#closed;
		return {
			code: this.#child.exitCode,
			signal: this.#child.signalCode,
			stdout: Buffer.concat(this.#stdout),
			stderr: Buffer.concat(this.#stderr).toString(),
		};
	}
}
