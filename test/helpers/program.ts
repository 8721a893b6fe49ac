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
		// The process ended meanwhile.
		return '';
	}
}

/**
 * The living processes with this word on their command line, or in their environment, this one left out. Zombies have neither. The
 * command line of a bridge is its title, which has no arguments.
 */
export const processesWith = (word: string, where: 'cmdline' | 'environ' = 'cmdline'): number[] =>
	readdirSync('/proc')
		.map(Number)
		.filter(pid => pid > 0 && pid !== process.pid && read(`/proc/${pid}/${where}`).includes(word));

export function signal(pid: number, name: NodeJS.Signals): void {
	try {
		process.kill(pid, name);
	} catch {
		// It is gone already.
	}
}

/** A word for a server's command line, by which whoever has it is found, and ended with the test. */
export function newMarker(t: ExecutionContext): string {
	const marker = `marker-${randomUUID()}`;
	t.teardown(() => {
		for (const pid of processesWith(marker)) signal(pid, 'SIGKILL');
	});
	return marker;
}

/** Waits until something is so, and fails when it will hardly ever be. */
export async function until(isSo: () => boolean | Promise<boolean>, giveUpMs = 60_000): Promise<void> {
	for (const since = performance.now(); !(await isSo()); await sleep(POLL_MS))
		if (performance.now() - since > giveUpMs) throw new Error(`It never came true that ${isSo}`);
}

/** Waits until a number that can only grow has stood still for a while. */
export async function untilStill(look: () => number, stillMs = 500): Promise<void> {
	let seen = look();
	for (let since = performance.now(); performance.now() - since < stillMs; await sleep(POLL_MS)) {
		if (look() === seen) continue;
		seen = look();
		since = performance.now();
	}
}

/** The bytes that a process has written so far, to whatever. */
export const bytesWritten = (pid: number): number =>
	Number(/wchar: (\d+)/.exec(read(`/proc/${pid}/io`))?.[1]);

/** The bytes that a process has read so far, from whatever. */
export const bytesRead = (pid: number): number => Number(/rchar: (\d+)/.exec(read(`/proc/${pid}/io`))?.[1]);

/** The most memory that a process had so far, in MiB. */
export const peakMiB = (pid: number): number =>
	Number(/VmHWM:\s*(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1]) / 1024;

/** Starts bridge, for no longer than the test lasts. */
export function start(t: ExecutionContext, args: readonly string[], options?: StartOptions): Running {
	const running = startBridge(args, options);
	t.teardown(() => running.child.kill('SIGKILL'));
	return running;
}

export type Puppet = {readonly bridge: Running; readonly pid: number; readonly marker: string};

/** The same, after a handshake. Its answer is the first line on stdout. */
export async function startReady(
	t: ExecutionContext,
	args: readonly string[],
	options?: StartOptions,
): Promise<Running> {
	const running = start(t, args, options);
	await running.shakeHands();
	return running;
}

/** Has a client and a puppet shake hands, by which the puppet tells its process id. */
export async function pidOf(bridge: Running): Promise<number> {
	const {result} = await bridge.shakeHands();
	return (result as {_meta: {pid: number}})._meta.pid;
}

/** Starts bridge in front of a puppet server, with a marker of its own, and waits until all have shaken hands. */
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

/** The same with so many seconds for each answer, of which the puppet's own start takes none. */
export async function startHurried(t: ExecutionContext, seconds: number): Promise<Puppet> {
	const marker = newMarker(t);
	const started = 'the puppet has started';
	const puppet = server('puppet', `--words=${started}\n`, marker);
	const bridge = start(t, ['--timeout', String(seconds), '--', ...puppet]);
	await bridge.says(new RegExp(started));
	return {bridge, pid: await pidOf(bridge), marker};
}

/** One puppet behind one bridge for all tests of a file that asks for it, to be used by one after the other. */
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
		if (!shared) throw new Error('It is started before the first test.');
		return shared;
	};
}

/** The lines that a puppet has heard so far, the question for them left out. */
export async function heardBy({bridge}: Puppet): Promise<string[]> {
	const {result} = await bridge.request(randomUUID(), 'heard');
	return (result as {lines: string[]}).lines.slice(0, -1);
}

/** A folder that is gone after the test. */
export async function newFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'bridge-test-'));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	return folder;
}

export type Failure = {readonly code: number; readonly message: string; readonly data: Message};

export const errorOf = (message: Message): Failure => message.error as Failure;

/** The answers with this id, of which there should be one. */
export const answersTo = (running: Running, id: unknown): Message[] =>
	running.lines
		.map(line => JSON.parse(line) as Message)
		.filter(message => message.id === id && !('method' in message));

/** Whether each line on stdout is one JSON-RPC message. */
export const isAllRpc = (lines: readonly string[]): boolean =>
	lines.every(line => {
		const message = JSON.parse(line) as Message;
		return message.jsonrpc === '2.0' && ('method' in message || 'result' in message || 'error' in message);
	});

/** What bridge logged under this name. */
export const logged = (running: {readonly stderr: string}, event: string): Message[] =>
	jsonLines<Message>(running.stderr).filter(entry => entry.event === event);
