import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import type {Envelope} from '../../../lib/core/envelope.js';
import {type Child, type ChildOptions, child} from '../../../lib/transports/process/child.js';

/** A program of a few lines, to be run by Node. */
export const program = (source: string): {command: string; args: string[]} => ({
	command: process.execPath,
	args: ['-e', source],
});

/** Says hello once it runs, so that nobody has to guess when. */
export const READY = 'process.stdout.write("ready\\n");';
/** Does not end by itself. */
export const STAYS = 'setInterval(() => {}, 60_000);';
/** Does not end when asked kindly, either. */
export const DEAF = 'process.on("SIGTERM", () => {});';

/** What came from a child so far, and how that ended. */
export type Heard = {readonly texts: string[]; readonly ended: Promise<Error | undefined>};

export function listen({incoming}: Child, onNext: (envelope: Envelope) => void = () => {}): Heard {
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

/** A child that is gone when the test is. */
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

/** A plain process, without any of bridge's own care for it. */
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

/** Whether there is such a process that is not dead and only waiting to be taken note of. */
export function isRunning(pid: number): boolean {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
		return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
	} catch {
		return false;
	}
}
