import {type ChildProcessWithoutNullStreams, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {until} from '../helpers/program.js';
import {survivorsOf} from '../peers/processes.js';
import type {Sandbox} from './sandbox.js';

/** The time for one command: busy machines are slow, and a failing page should not hang. */
const LIMIT_MS = 60_000;
const MARK = '\u0001bridge-docs';

export type Result = {readonly output: string; readonly code: number};

/**
 * A shell that runs the commands of a page one after the other and keeps variables and the working
 * directory.
 */
export class Shell {
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #folder: string;
	#output = '';
	#backgrounds = 0;
	/** Whether a command timed out. Then no other can run. */
	isStuck = false;

	constructor({cwd, env, folder}: Sandbox) {
		this.#folder = folder;
		this.#child = spawn('bash', ['--noprofile', '--norc'], {cwd, env, detached: true});
		this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
			this.#output += text;
		});
		this.#child.stdin.on('error', () => {});
		// Both streams are one pipe, as on a terminal, so that their order is kept.
		this.#child.stdin.write('exec 2>&1\n');
	}

	/** Runs a command to its end. */
	async run(command: string): Promise<Result> {
		this.#output = '';
		this.#send(`{ ${command}\n} </dev/null`);
		return this.#ended();
	}

	/** Starts a command that ends with `&`, and waits for the wanted output. */
	async start(command: string, isWanted: (output: string) => boolean): Promise<Result> {
		const file = join(this.#folder, `background-${this.#backgrounds++}.txt`);
		await this.run(`:>'${file}'; { ${command}\n} </dev/null >'${file}' 2>&1`);
		const read = (): string => readFileSync(file, 'utf8');
		await until(() => isWanted(read()), LIMIT_MS).catch(() => {});
		return {output: read(), code: 0};
	}

	/** Runs a command until the wanted output appears, and then interrupts it like Ctrl+C. */
	async interrupt(command: string, isWanted: (output: string) => boolean): Promise<Result> {
		this.#output = '';
		// With job control, the command has its own process group.
		this.#child.stdin.write(`set -m; { ${command}\n} </dev/null & set +m\n`);
		await until(() => isWanted(this.#output), LIMIT_MS).catch(() => {});
		const {output} = this;
		this.#send('kill -INT -- -$!; wait $!');
		const {code} = await this.#ended();
		return {output, code};
	}

	/** What the command has printed so far. */
	get output(): string {
		return this.#output;
	}

	/**
	 * Kills the shell and all processes that its commands started. Returns the command lines of those
	 * left.
	 */
	async close(): Promise<void> {
		if (this.isStuck) this.#child.kill('SIGKILL');
		this.#child.stdin.end('kill $(jobs -p) 2>/dev/null; wait; exit\n');
		const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
		if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
		clearTimeout(timer);
		await survivorsOf(this.#folder);
	}

	#send(command: string): void {
		this.#child.stdin.write(
			`${command}\nbridge_code=$?; printf '\\n${MARK} %d\\n' $bridge_code; (exit $bridge_code)\n`,
		);
	}

	/** Waits for the mark after a command. */
	async #ended(): Promise<Result> {
		const mark = new RegExp(`\\n?${MARK} (\\d+)\\n`);
		const isOver = (): boolean => mark.test(this.#output) || this.#child.exitCode !== null;
		await until(isOver, LIMIT_MS).catch(() => {});
		const [found, code = '-1'] = mark.exec(this.#output) ?? [];
		this.isStuck = found === undefined;
		const output = found === undefined ? `${this.#output}\n(still running)` : this.#output.replace(found, '');
		return {output, code: Number(code)};
	}
}
