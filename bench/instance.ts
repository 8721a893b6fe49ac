import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {type Client, withTimeout} from './client.js';
import {freePort} from './free-port.js';
import {HttpClient, listening} from './http-client.js';
import {programPath} from './paths.js';
import {endLeftovers, family} from './process-stats.js';
import {Program} from './program.js';
import {StdioClient} from './stdio-client.js';
import {logFile} from './stdio-targets.js';
import type {Place, Target} from './target.js';
import {TrafficLog} from './traffic-log.js';

/** One running target with its client. */
export interface Instance {
	target: Target;
	client: Client;
	folder: string;
	tools: {echo: string; blob: string};
	/**
	 * Spawn → initialize result, and spawn → first tools/call result (some proxies start the server late).
	 */
	startMs: number;
	readyMs: number;
	log: TrafficLog | undefined;
	/** Whether it cannot forward messages of 1 MB. */
	isForSmall: boolean;
}

const START_LIMIT_MS = 60_000;
const AFTER_END_MS = 50;

/** All processes of the bench have this folder in their command line, which identifies them. */
export const runFolder = mkdtempSync(join(tmpdir(), 'bridge-bench-'));
const running = new Map<Client, {folder: string; server: Program | undefined}>();
let started = 0;

const prepare = async (
	target: Target,
	name: string,
): Promise<{place: Place; server: Program | undefined}> => {
	const folder = join(runFolder, name);
	mkdirSync(folder);
	const command = [process.execPath, programPath('echo-server'), folder];
	const [port, serverPort] = [await freePort(), await freePort()];
	const place = {server: command, serverUrl: `http://127.0.0.1:${serverPort}/mcp`, port, folder};
	for (const [file, content] of Object.entries(target.files?.(place) ?? {})) {
		writeFileSync(join(folder, file), JSON.stringify(content));
	}
	if (!target.isInFrontOfHttp) {
		return {place, server: undefined};
	}
	const server = new Program([...command, String(serverPort)], folder, process.env, () => undefined);
	await listening(serverPort, () => true);
	return {place, server};
};

const startClient = (target: Target, place: Place): Client => {
	const {folder, port} = place;
	const env = target.ownHome ? {...process.env, HOME: folder} : process.env;
	const command = target.command(place);
	return target.path === undefined
		? new StdioClient(command, folder, env)
		: new HttpClient(command, new URL(`http://127.0.0.1:${port}${target.path}`), folder, env);
};

// A proxy may rename tools, and may list them late.
const findTools = async (client: Client): Promise<{echo: string; blob: string}> => {
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
	throw new Error('the target did not list the tools of the server');
};

/** Starts a target and waits for its first call. On errors it is stopped before the error is thrown. */
export const startInstance = async (target: Target): Promise<Instance> => {
	const {place, server} = await prepare(target, String(++started).padStart(5, '0'));
	const {folder} = place;
	const client = startClient(target, place);
	running.set(client, {folder, server});
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
		await log?.reset();
		return {target, client, folder, tools, startMs, readyMs, log, isForSmall: false};
	} catch (error) {
		await endClient(client);
		throw error;
	}
};

/** Stops a target and kills the processes that it leaves. Returns their number. */
const endClient = async (client: Client): Promise<number> => {
	const entry = running.get(client);
	if (entry === undefined) {
		return 0;
	}
	const {folder, server} = entry;
	running.delete(client);
	const members = family(client.pid, folder);
	await client.close();
	await server?.stop();
	await sleep(AFTER_END_MS);
	const left = endLeftovers([...members, ...family(-1, folder)]);
	rmSync(folder, {recursive: true, force: true, maxRetries: 3});
	return left;
};

export const stopInstance = (instance: Instance): Promise<number> => endClient(instance.client);

/** Stops all processes and removes the folder of the run. */
export const stopEverything = async (): Promise<void> => {
	await Promise.all([...running.keys()].map(endClient));
	endLeftovers(family(-1, runFolder));
	rmSync(runFolder, {recursive: true, force: true, maxRetries: 3});
};

/** Stops all processes when the bench is interrupted. */
export const stopOnSignals = (): void => {
	for (const [signal, code] of [
		['SIGINT', 130],
		['SIGTERM', 143],
	] as const) {
		process.once(signal, () => {
			const exit = (): never => process.exit(code);
			stopEverything().then(exit, exit);
		});
	}
};
