/**
 * The token cost of tools before the first call: the size of `tools/list` of directly connected servers
 * compared with the same servers behind the hub. Uses the real servers of the acceptance tests.
 */

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, realpath, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import ndjson from 'ndjson';
import {startMembers} from '../test/peers/acceptance-members.js';
import type {Service} from '../test/peers/gateway.js';
import {bridgeFile} from '../test/peers/peers.js';

type Json = {readonly [key: string]: unknown};

const COUNTS = [1, 5, 11];
const PATIENCE_MS = 60_000;
const POLL_MS = 100;
/** The rule of thumb of model vendors. Real tokenizers differ by about a fifth for JSON. */
const BYTES_A_TOKEN = 4;

class Client {
	readonly #child;
	readonly #pending = new Map<unknown, (message: Json) => void>();
	#ids = 0;

	constructor(file: string) {
		this.#child = spawn(process.execPath, [bridgeFile, 'hub', '--config', file, '--log-level', 'error'], {
			stdio: ['pipe', 'pipe', 'ignore'],
		});
		this.#child.stdout.pipe(ndjson.parse()).on('data', (message: Json) => {
			this.#pending.get(message.id)?.(message);
		});
	}

	request(method: string, params: Json = {}): Promise<Json> {
		const id = ++this.#ids;
		const response = new Promise<Json>(resolve => this.#pending.set(id, resolve));
		this.#child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', id, method, params})}\n`);
		return response;
	}

	async run(command: string): Promise<string> {
		const {result} = await this.request('tools/call', {name: 'run', arguments: {command}});
		const {content} = result as {readonly content: ReadonlyArray<{readonly text: string}>};
		return content[0]?.text ?? '';
	}

	async close(): Promise<void> {
		this.#child.stdin.end();
		await once(this.#child, 'close');
	}
}

/** Starts a hub with both the tools and `run`, and waits for all servers. */
async function startHub(folder: string, servers: Json): Promise<Client> {
	const {length} = Object.keys(servers);
	const file = join(folder, `${length}.json`);
	await writeFile(file, JSON.stringify({expose: 'both', servers}));
	const client = new Client(file);
	const clientInfo = {name: 'bench', version: '1'};
	await client.request('initialize', {protocolVersion: '2025-11-25', capabilities: {}, clientInfo});
	// On a busy machine, slow servers join after the hub's wait for them.
	for (const since = performance.now(); ; ) {
		const text = await client.run('proxy.list_servers()');
		if (text.split('"connected":true').length > length) return client;
		if (performance.now() - since > PATIENCE_MS) throw new Error(`Not all servers are connected: ${text}`);
		await new Promise(resolve => setTimeout(resolve, POLL_MS));
	}
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const size = (bytes: number): string => `${bytes} B ≈ ${Math.round(bytes / BYTES_A_TOKEN)} tokens`;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Compares each server's own list with the hub's list of its tools, under their original names. */
async function compare(folder: string, services: ReadonlyArray<readonly [string, Service]>): Promise<void> {
	const client = await startHub(folder, Object.fromEntries(services));
	const {result} = await client.request('tools/list');
	const search = bytesOf(await client.run('proxy.search("message", limit=3)'));
	const help = bytesOf(await client.run('proxy.help(proxy.search("message")[0]["name"])'));
	await client.close();
	const [run, ...tools] = (result as {readonly tools: ReadonlyArray<{readonly name: string}>}).tools;
	const own = tools.map(tool => ({...tool, name: tool.name.slice(tool.name.indexOf('__') + 2)}));
	const [direct, hub] = [bytesOf(own), bytesOf([run])];
	const change = Math.round((hub / direct - 1) * 100);
	print(`\n${services.length} server${services.length > 1 ? 's' : ''}, ${tools.length} tools`);
	print(`  directly                    ${size(direct)}`);
	print(`  through the hub, run        ${size(hub)}  (${change > 0 ? '+' : ''}${change} %)`);
	print(`    and to find one tool      ${size(search)} for proxy.search, ${size(help)} for proxy.help`);
	print(`  through the hub, tools      ${size(bytesOf(tools))}`);
}

const folder = await realpath(await mkdtemp(join(tmpdir(), 'bridge-tokens-')));
const ends: Array<() => unknown> = [() => rm(folder, {recursive: true, force: true})];
try {
	const members = await startMembers({teardown: end => void ends.push(end)}, folder);
	const services = members.map(
		({name, service}) => [name.replaceAll(/[ .]/g, '-'), service] as readonly [string, Service],
	);
	print('The cost of tools before the first call: the size of tools/list as JSON.');
	print(
		`Tokens are estimated, at ${BYTES_A_TOKEN} bytes each. The size of the hub includes the description of run.`,
	);
	for (const count of COUNTS) await compare(folder, services.slice(0, count));
} finally {
	for (const end of ends.reverse()) await end();
}
