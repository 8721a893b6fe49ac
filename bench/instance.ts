import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {StdioClient, withTimeout} from './client.js';
import {programPath} from './paths.js';
import {endLeftovers, family} from './process-stats.js';
import {logFile, type Target} from './targets.js';
import {TrafficLog} from './traffic-log.js';

/** One running target with its client. */
export interface Instance {
	target: Target;
	client: StdioClient;
	pid: number;
	folder: string;
	tools: {echo: string; blob: string};
	/** Spawn → initialize result, and spawn → first tool call answered (some proxies start the server late). */
	startMs: number;
	readyMs: number;
	log: TrafficLog | undefined;
}

const START_LIMIT_MS = 60_000;
const AFTER_END_MS = 50;

/** Everything the bench starts works below this folder and names it, which is how its processes are recognised. */
export const runFolder = mkdtempSync(join(tmpdir(), 'bridge-bench-'));
const running = new Map<StdioClient, string>();
let started = 0;

const prepareFolder = (target: Target, name: string): {folder: string; server: string[]} => {
	const folder = join(runFolder, name);
	mkdirSync(folder);
	const server = [process.execPath, programPath('echo-server'), folder];
	for (const [file, content] of Object.entries(target.files?.(server) ?? {})) {
		writeFileSync(join(folder, file), JSON.stringify(content));
	}
	return {folder, server};
};

// A proxy may rename tools and may list them late.
const findTools = async (client: StdioClient): Promise<{echo: string; blob: string}> => {
	const giveUp = performance.now() + START_LIMIT_MS;
	while (performance.now() < giveUp) {
		const {result} = await client.request('tools/list', {}, START_LIMIT_MS);
		const names = ((result as {tools?: {name: string}[]} | undefined)?.tools ?? []).map(tool => tool.name);
		const echo = names.find(name => /(^|[^a-z])echo$/i.test(name));
		const blob = names.find(name => /(^|[^a-z])blob$/i.test(name));
		if (echo !== undefined && blob !== undefined) {
			return {echo, blob};
		}
		await sleep(20);
	}
	throw new Error('the tools of the server were not listed');
};

/** Start a target and take it to its first answered call. What fails half-way is ended before the error is thrown. */
export const startInstance = async (target: Target): Promise<Instance> => {
	const {folder, server} = prepareFolder(target, String(++started).padStart(5, '0'));
	const env = target.ownHome ? {...process.env, HOME: folder} : process.env;
	const client = new StdioClient(target.command(server, folder), folder, env);
	running.set(client, folder);
	try {
		await client.initialize(target.clientVersion ?? '2025-11-25', START_LIMIT_MS);
		const startMs = performance.now() - client.startedAt;
		const tools = await findTools(client);
		const first = await withTimeout(client.call(tools.echo, '{"payload":"first"}'), START_LIMIT_MS, 'a call');
		if (!first.ok) {
			throw new Error(`the first call failed: ${first.why}`);
		}
		const readyMs = performance.now() - client.startedAt;
		const log = target.logs ? new TrafficLog(logFile(folder)) : undefined;
		await log?.forget();
		return {target, client, pid: client.pid ?? -1, folder, tools, startMs, readyMs, log};
	} catch (error) {
		await endClient(client);
		throw error;
	}
};

/** End a target; the number of processes it would have left behind is returned, and they are ended too. */
const endClient = async (client: StdioClient): Promise<number> => {
	const folder = running.get(client);
	if (folder === undefined) {
		return 0;
	}
	running.delete(client);
	const members = family(client.pid ?? -1, folder);
	await client.close();
	await sleep(AFTER_END_MS);
	const left = endLeftovers([...members, ...family(-1, folder)]);
	rmSync(folder, {recursive: true, force: true, maxRetries: 3});
	return left;
};

export const stopInstance = (instance: Instance): Promise<number> => endClient(instance.client);

/** End whatever still runs and remove the folder of the run. */
export const stopEverything = async (): Promise<void> => {
	await Promise.all([...running.keys()].map(endClient));
	endLeftovers(family(-1, runFolder));
	rmSync(runFolder, {recursive: true, force: true, maxRetries: 3});
};
