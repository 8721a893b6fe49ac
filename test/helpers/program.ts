import {randomUUID} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {type Message, type Running, type StartOptions, server, startBridge} from './bridge.js';
import {jsonLines} from './ndjson.js';

const POLL_MS = 20;

function read(file: string): string {
	try {
		return readFileSync(file, 'latin1');
	} catch {
		// The process has exited meanwhile.
		return '';
	}
}

/**
 * The processes with this text in their command line or environment, except this one. Zombies have neither.
 * The command line of a bridge is its title, without arguments.
 */
export const processesWith = (word: string, where: 'cmdline' | 'environ' = 'cmdline'): number[] =>
	readdirSync('/proc')
		.map(Number)
		.filter(pid => pid > 0 && pid !== process.pid && read(`/proc/${pid}/${where}`).includes(word));

export function signal(pid: number, name: NodeJS.Signals): void {
	try {
		process.kill(pid, name);
	} catch {
		// The process has exited already.
	}
}

/** A unique argument for a server. Processes that have it are killed after the test. */
export function newMarker(t: ExecutionContext): string {
	const marker = `marker-${randomUUID()}`;
	t.teardown(() => {
		for (const pid of processesWith(marker)) signal(pid, 'SIGKILL');
	});
	return marker;
}

/** Waits until a condition is true, and throws after a time limit. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
	for (const since = performance.now(); !(await condition()); await sleep(POLL_MS))
		if (performance.now() - since > timeoutMs) throw new Error(`Timed out waiting for: ${condition}`);
}

/** Waits until a growing number has not changed for this time. */
export async function untilStill(getValue: () => number, stillMs = 500): Promise<void> {
	let last = getValue();
	for (let since = performance.now(); performance.now() - since < stillMs; await sleep(POLL_MS)) {
		if (getValue() === last) continue;
		last = getValue();
		since = performance.now();
	}
}

export const bytesWritten = (pid: number): number =>
	Number(/wchar: (\d+)/.exec(read(`/proc/${pid}/io`))?.[1]);

export const bytesRead = (pid: number): number => Number(/rchar: (\d+)/.exec(read(`/proc/${pid}/io`))?.[1]);

export const peakMiB = (pid: number): number =>
	Number(/VmHWM:\s*(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1]) / 1024;

/** Starts bridge, and kills it after the test. */
export function start(t: ExecutionContext, args: readonly string[], options?: StartOptions): Running {
	const running = startBridge(args, options);
	t.teardown(() => running.child.kill('SIGKILL'));
	return running;
}

export type Puppet = {readonly bridge: Running; readonly pid: number; readonly marker: string};

/** Starts bridge and completes the handshake. The response is the first line on stdout. */
export async function startReady(
	t: ExecutionContext,
	args: readonly string[],
	options?: StartOptions,
): Promise<Running> {
	const running = start(t, args, options);
	await running.shakeHands();
	return running;
}

/** Completes the handshake with a puppet, whose response contains its process id. */
export async function pidOf(bridge: Running): Promise<number> {
	const {result} = await bridge.shakeHands();
	return (result as {_meta: {pid: number}})._meta.pid;
}

/** Starts bridge with a puppet server that has its own marker, and completes the handshake. */
export async function startPuppet(
	t: ExecutionContext,
	puppetArgs: readonly string[] = [],
	bridgeArgs: readonly string[] = [],
	options?: StartOptions,
): Promise<Puppet> {
	const marker = newMarker(t);
	const bridge = start(t, [...bridgeArgs, '--', ...server('puppet', ...puppetArgs, marker)], options);
	return {bridge, pid: await pidOf(bridge), marker};
}

/**
 * Starts bridge with a puppet server and a request limit in seconds, which excludes the start of the puppet.
 */
export async function startHurried(t: ExecutionContext, seconds: number): Promise<Puppet> {
	const marker = newMarker(t);
	const started = 'the puppet has started';
	const puppet = server('puppet', `--words=${started}\n`, marker);
	const bridge = start(t, ['--timeout', String(seconds), '--', ...puppet]);
	await bridge.says(new RegExp(started));
	return {bridge, pid: await pidOf(bridge), marker};
}

/** Starts one puppet behind one bridge for all tests of a file, which have to use it serially. */
export function sharePuppet(): () => Puppet {
	const marker = `marker-${randomUUID()}`;
	let shared: Puppet | undefined;
	test.serial.before(async () => {
		const bridge = startBridge(['--', ...server('puppet', marker)]);
		shared = {bridge, pid: 0, marker};
		shared = {bridge, pid: await pidOf(bridge), marker};
	});
	test.after.always(() => {
		shared?.bridge.child.kill('SIGKILL');
		for (const pid of processesWith(marker)) signal(pid, 'SIGKILL');
	});
	return () => {
		if (!shared) throw new Error('The puppet starts before the first test.');
		return shared;
	};
}

/** The lines that a puppet has received, except the request for them. */
export async function heardBy({bridge}: Puppet): Promise<string[]> {
	const {result} = await bridge.request(randomUUID(), 'heard');
	return (result as {lines: string[]}).lines.slice(0, -1);
}

/** A folder that is removed after the test. */
export async function newFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'bridge-test-'));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	return folder;
}

export type Failure = {readonly code: number; readonly message: string; readonly data: Message};

export const errorOf = (message: Message): Failure => message.error as Failure;

export const answersTo = (running: Running, id: unknown): Message[] =>
	running.lines
		.map(line => JSON.parse(line) as Message)
		.filter(message => message.id === id && !('method' in message));

export const isAllRpc = (lines: readonly string[]): boolean =>
	lines.every(line => {
		const message = JSON.parse(line) as Message;
		return message.jsonrpc === '2.0' && ('method' in message || 'result' in message || 'error' in message);
	});

export const logged = (running: {readonly stderr: string}, event: string): Message[] =>
	jsonLines<Message>(running.stderr).filter(entry => entry.event === event);
