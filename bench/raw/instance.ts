import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {withTimeout} from '../client.js';
import {listening} from '../http-client.js';
import {freePort, runFolder} from '../instance.js';
import {programPath} from '../paths.js';
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
		...{target, port, folder, pid: program?.pid ?? -1},
		log: file === undefined ? undefined : new TrafficLog(file),
		stop: async () => program?.stop(),
	};
};

/** Waits until a log is written, counts its gaps, and empties it. Returns whether nothing is missing from it. */
export const settle = async ({log, target}: RawInstance): Promise<boolean> => {
	if (!log) {
		return true;
	}
	const {gaps} = log.check;
	await log.drain();
	if (target.isOurs) {
		await sleep(LAST_LINES_MS);
		await log.drain();
	}
	log.collect(0);
	return log.check.gaps === gaps;
};
