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

/** One running target in front of the TCP server. */
export type RawInstance = {
	readonly target: RawTarget;
	readonly port: number;
	readonly pid: number;
	readonly folder: string;
	readonly log: TrafficLog | undefined;
	readonly stop: () => Promise<void>;
};

const START_MS = 30_000;
/** Longer than bridge's flush interval. */
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

/** Starts the TCP server behind all targets, and returns its port. */
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

/** The time that a target must be idle, below this share of a core, before the next turn. */
const IDLE_MS = 500;
const IDLE_CORES = 0.1;
const PROBE_MS = 100;
const LONGEST_IDLE_MS = 60_000;

/**
 * Waits until a target is idle, since its remaining work would slow the next one. mitmdump writes its file
 * after the connection has closed, and uses a core for seconds before the first byte.
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
 * Waits until a log is written, counts its gaps, empties it, and syncs the disk, so that no target waits
 * for the writes of another. Returns whether the log is complete, and when it was written.
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
