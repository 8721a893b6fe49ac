import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import type {Command} from './peers.js';

/** What ends the processes that were started for it, such as a test. */
export interface Owner {
	readonly teardown: (end: () => void) => void;
}

/** A program that serves on a port, as it said itself. */
export interface Listening {
	readonly port: number;
	readonly pid: number;
	/** All that it has written to stderr so far, cut from the front. */
	readonly stderr: () => string;
	/** Ends it by that signal and waits until it is gone. */
	stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const maxRemembered = 100_000;

function portIn(line: string, announcement: RegExp): number | undefined {
	const port = announcement.exec(line)?.[1];
	return port === undefined ? undefined : Number(port);
}

/** Starts a program and waits until it says, on stdout or stderr, on which port it listens: the first group of `announcement`. */
export async function startListening(
	t: Owner,
	{command, args, env}: Command,
	announcement: RegExp,
): Promise<Listening> {
	const child = spawn(command, args, {stdio: ['ignore', 'pipe', 'pipe'], env: {...process.env, ...env}});
	let stderr = '';
	child.stderr.on('data', chunk => {
		stderr = (stderr + String(chunk)).slice(-maxRemembered);
	});
	t.teardown(() => child.kill('SIGKILL'));
	const port = await new Promise<number>((resolve, reject) => {
		const look = (line: string): void => {
			const found = portIn(line, announcement);
			if (found !== undefined) resolve(found);
		};
		createInterface({input: child.stdout}).on('line', look);
		createInterface({input: child.stderr}).on('line', look);
		child.once('error', reject);
		child.once('exit', code => reject(new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)));
	});
	return {port, pid: child.pid ?? -1, stderr: () => stderr, stop: signal => stop(child, signal)};
}

async function stop(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const ended = once(child, 'exit');
	child.kill(signal);
	await ended;
}
