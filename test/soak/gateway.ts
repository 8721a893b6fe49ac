import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import split2 from 'split2';
import {endLeftovers, family} from '../../bench/process-stats.js';

const MAX_STDERR = 4000;
const POLL_MS = 100;
/** After SIGTERM the gateway drains for 10 s; its children have 5 s more. The rest is for slow machines. */
const EXIT_MS = 300_000;
const LEFT_MS = 10_000;

/** The gateway under test, as a process. */
export class Gateway {
	readonly child: ChildProcess;
	readonly #folder: string;
	readonly exited: Promise<unknown>;
	#stderr = '';
	/** The exit code or signal. */
	ended: number | string | undefined;

	constructor(command: readonly string[], folder: string) {
		const [program = '', ...args] = command;
		this.#folder = folder;
		this.child = spawn(program, args, {stdio: ['ignore', 'pipe', 'pipe'], cwd: folder});
		this.exited = once(this.child, 'exit').then(([code, signal]) => {
			this.ended = code ?? signal;
		});
		this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
			this.#stderr = (this.#stderr + text).slice(-MAX_STDERR);
		});
	}

	/** The end of its stderr output. */
	get stderr(): string {
		return this.#stderr.trim();
	}

	/** Resolves to its address, from the first line of stdout. */
	async address(): Promise<URL> {
		const {stdout} = this.child;
		if (!stdout) throw new Error('The gateway has no stdout.');
		for await (const line of stdout.pipe(split2())) {
			const [base] = /http:\/\/\S+:\d+/.exec(line) ?? [];
			if (base !== undefined) {
				stdout.resume();
				return new URL(base);
			}
		}
		throw new Error(`The gateway exited without an address: ${this.stderr}`);
	}

	/** Current or peak resident memory, in MiB. */
	memory(what: 'VmRSS' | 'VmHWM'): number {
		try {
			const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
			return Number(status.match(`${what}:\\s*(\\d+)`)?.[1] ?? 0) / 1024;
		} catch {
			return 0;
		}
	}

	/** Sends SIGTERM. Returns the problems of the exit, after killing all processes that are left. */
	async stop(): Promise<string[]> {
		const all = family(this.child.pid ?? 0, this.#folder);
		this.child.kill('SIGTERM');
		await Promise.race([this.exited, sleep(EXIT_MS, undefined, {ref: false})]);
		const found =
			this.ended === undefined ? [`the gateway did not exit within ${EXIT_MS / 1000} s of SIGTERM`] : [];
		if (this.ended !== undefined && this.ended !== 0)
			found.push(`the gateway exited with ${this.ended}: ${this.stderr}`);
		const left = await this.#leftovers();
		if (left.length > 0) found.push(`${left.length} processes were left behind: ${left.join(', ')}`);
		endLeftovers(all);
		return found;
	}

	/** The processes with the folder on their command line that do not exit. */
	async #leftovers(): Promise<string[]> {
		const alive = () => family(this.child.pid ?? 0, this.#folder).filter(({state}) => state !== 'Z');
		const until = performance.now() + LEFT_MS;
		while (alive().length > 0 && performance.now() < until) await sleep(POLL_MS);
		const left = alive();
		const commands = left.map(({pid}) => `${pid} ${commandOf(pid)}`);
		endLeftovers(left);
		return commands;
	}
}

const commandOf = (pid: number): string => {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
	} catch {
		return '';
	}
};
