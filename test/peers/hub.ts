import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import {logged} from '../helpers/program.js';
import type {Service} from './gateway.js';
import {bridgeFile, peerUrl, temporaryFolder} from './peers.js';
import {loadSdk, type SdkClient} from './sdk.js';

/** The services of the real servers by name, with their files in this folder. */
export const realServers = (folder: string): Readonly<Record<string, Service>> => ({
	everything: real('@modelcontextprotocol/server-everything', folder),
	files: real('@modelcontextprotocol/server-filesystem', folder, folder),
	memory: real('@modelcontextprotocol/server-memory', folder),
});

function real(name: string, folder: string, ...args: readonly string[]): Service {
	const file = fileURLToPath(peerUrl(`${name}/dist/index.js`));
	const env = {BRIDGE_TEST_FOLDER: folder, MEMORY_FILE_PATH: join(folder, 'memory.jsonl')};
	return {command: process.execPath, args: [file, ...args], env};
}

export interface HubSettings {
	readonly servers: Readonly<Record<string, Service>>;
	readonly env?: Readonly<Record<string, string>>;
	/** Path of an installed bridge. Default: the built one. */
	readonly bridge?: string;
	/** Additional arguments of the command line. */
	readonly args?: readonly string[];
	readonly [key: string]: unknown;
}

/** The result of `run`. */
export interface Ran {
	readonly text: string;
	readonly isError: boolean;
	/** The structured result. */
	readonly result: unknown;
}

/** `bridge hub` in front of real servers, behind the real SDK's client. */
export interface RealHub {
	readonly client: SdkClient;
	readonly folder: string;
	run(command: string): Promise<Ran>;
	tools(): Promise<string[]>;
	/** The log entries with that event. */
	logged(event: string): ReadonlyArray<Readonly<Record<string, unknown>>>;
	/** The stderr output of the hub and its servers so far. */
	stderr(): string;
	close(): Promise<void>;
}

/** Starts a hub that stops with the test. The settings may depend on the test's own folder. */
export async function startRealHub(
	t: Pick<ExecutionContext, 'teardown'>,
	settingsIn: (folder: string) => HubSettings | Promise<HubSettings>,
): Promise<RealHub> {
	const folder = await temporaryFolder(t);
	const {env = {}, args = [], bridge = bridgeFile, ...config} = await settingsIn(folder);
	const file = join(folder, 'bridge.json');
	await writeFile(file, JSON.stringify(config));
	const sdk = await loadSdk();
	const transport = new sdk.StdioClientTransport({
		command: process.execPath,
		args: [bridge, 'hub', '--config', file, ...args],
		env: {...process.env, ...env},
		stderr: 'pipe',
	});
	let stderr = '';
	transport.stderr?.on('data', chunk => {
		stderr += String(chunk);
	});
	const client = new sdk.Client({name: 'spec-001', version: '1'}, {capabilities: {}});
	await client.connect(transport);
	t.teardown(() => client.close());
	return {
		client,
		folder,
		run: async command => ranBy(await client.callTool({name: 'run', arguments: {command}})),
		tools: async () => namesOf(await client.listTools()),
		logged: event => logged({stderr}, event),
		stderr: () => stderr,
		close: () => client.close(),
	};
}

function ranBy(response: unknown): Ran {
	const {content, structuredContent, isError} = response as {
		readonly content: ReadonlyArray<{readonly text?: string}>;
		readonly structuredContent?: {readonly result?: unknown};
		readonly isError?: boolean;
	};
	return {
		text: content.map(({text = ''}) => text).join('\n'),
		isError: isError === true,
		result: structuredContent?.result,
	};
}

const namesOf = (response: unknown): string[] =>
	(response as {readonly tools: ReadonlyArray<{readonly name: string}>}).tools.map(({name}) => name);

/** Polls until a condition holds. The timeout of the test is the limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
	while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 50));
}
