import {spawnSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {withTimeout} from '../client.js';
import {freePort} from '../free-port.js';
import {listening} from '../http-client.js';
import {runFolder} from '../instance.js';
import {programPath} from '../paths.js';
import {proxyUsage} from '../process-stats.js';
import {Program} from '../program.js';
import {node} from '../target.js';
import {TrafficLog} from '../traffic-log.js';
import type {RawTarget} from './targets.js';

/** One running target, in front of a program that sends and gives back. */
export type RawInstance = {
	readonly target: RawTarget;
	readonly port: number;
	readonly pid: number;
	readonly folder: string;
	readonly log: TrafficLog | undefined;
	readonly stop: () => Promise<void>;
};

const START_MS = 30_000;
/** Longer than lines wait in bridge for others. */
const LAST_LINES_MS = 2500;

const startOn = async (command: string[], folder: string, port: number): Promise<Program> => {
	let failure: Error | undefined;
	const program = new Program(command, folder, process.env, error => {
		failure = error;
	});
	program.child.stdout?.resume();
	await withTimeout(
		listening(port, () => failure === undefined),
		START_MS,
		command.join(' '),
	);
	if (failure) {
		throw failure;
	}
	return program;
};

/** Starts what all targets forward to, and returns its port. */
export const startDestination = async (): Promise<number> => {
	const port = await freePort();
	await startOn([node, programPath('tcp-target'), String(port), runFolder], runFolder, port);
	return port;
};

export const startRaw = async (target: RawTarget, destination: number): Promise<RawInstance> => {
	const folder = join(runFolder, target.name.replaceAll(/\W/g, '-'));
	mkdirSync(folder, {recursive: true});
	const port = target.command ? await freePort() : destination;
	const command = target.command?.({port, target: destination, folder});
	const program = command && (await startOn(command, folder, port));
	const file = target.log?.(folder);
	return {
		target,
		port,
		folder,
		pid: program?.pid ?? -1,
		log: file === undefined ? undefined : new TrafficLog(file),
		stop: async () => program?.stop(),
	};
};

/** How long a target has to do nothing, with less than this of a core, before it is the turn of the next one. */
const IDLE_MS = 500;
const IDLE_CORES = 0.1;
const PROBE_MS = 100;
const LONGEST_IDLE_MS = 60_000;

/**
 * Waits until a target has nothing left to do: what it does after its turn costs the next one. mitmdump makes its file when
 * the connection is over, and takes seconds of a core before the first byte of it is written.
 */
const idle = async ({pid, folder}: RawInstance): Promise<void> => {
	const giveUp = performance.now() + LONGEST_IDLE_MS;
	const used = (): number => proxyUsage(pid, folder).cpuMicros / 1000;
	let [before, since] = [used(), performance.now()];
	while (performance.now() - since < IDLE_MS && performance.now() < giveUp) {
		const probed = performance.now();
		await sleep(PROBE_MS);
		const now = used();
		if (now - before > IDLE_CORES * (performance.now() - probed)) {
			since = performance.now();
		}
		before = now;
	}
};

/**
 * Waits until a log is written, counts its gaps, empties it, and has the disk do what it was left with, so that nobody's
 * writing waits for what somebody else wrote. Returns whether nothing is missing from the log, and when it was written.
 */
export const settle = async (instance: RawInstance): Promise<{isWhole: boolean; writtenAt: number}> => {
	const {log, target} = instance;
	if (!log) {
		return {isWhole: true, writtenAt: Date.now()};
	}
	const {gaps} = log.check;
	await idle(instance);
	await log.drain();
	if (target.isOurs) {
		await sleep(LAST_LINES_MS);
		await log.drain();
	}
	const {writtenAt} = log;
	log.collect(0);
	spawnSync('sync', ['-f', runFolder]);
	return {isWhole: log.check.gaps === gaps, writtenAt};
};
