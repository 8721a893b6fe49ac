import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import type {Envelope} from '../../../lib/core/envelope.js';
import {type Child, type ChildOptions, child} from '../../../lib/transports/process/child.js';

/** The command that runs a source text in Node. */
export const program = (source: string): {command: string; args: string[]} => ({
	command: process.execPath,
	args: ['-e', source],
});

/** Prints a line once the program runs. */
export const READY = 'process.stdout.write("ready\\n");';
/** Keeps the program running. */
export const STAYS = 'setInterval(() => {}, 60_000);';
/** Makes the program ignore SIGTERM. */
export const IGNORES_SIGTERM = 'process.on("SIGTERM", () => {});';

/** The received messages, and the end of the stream: its error, if any. */
type Output = {readonly texts: string[]; readonly ended: Promise<Error | undefined>};

export function listen({incoming}: Child, onNext: (envelope: Envelope) => void = () => {}): Output {
	const texts: string[] = [];
	const ended = new Promise<Error | undefined>(resolve => {
		incoming.subscribe({
			next(envelope) {
				texts.push(envelope.bytes.toString());
				onNext(envelope);
			},
			error: resolve,
			complete: () => resolve(undefined),
		});
	});
	return {texts, ended};
}

/** Starts a child that is killed at the end of the test. */
export function startChild(
	t: ExecutionContext,
	source: string | {command: string; args: string[]},
	options: Partial<ChildOptions> = {},
): Child {
	const {command, args} = typeof source === 'string' ? program(source) : source;
	const started = child({name: 'files', command, args, onStderr: () => {}, ...options});
	t.teardown(() => started.kill());
	return started;
}

/** Starts a process without supervision by bridge. */
export function startProcess(t: ExecutionContext, source: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
	const {command, args} = program(source);
	const started = spawn(command, args, {
		detached: true,
		stdio: ['pipe', 'pipe', 'ignore'],
		env: {...process.env, ...env},
	});
	t.teardown(() => started.kill('SIGKILL'));
	return started;
}

/** Whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
	} catch {
		return false;
	}
}
