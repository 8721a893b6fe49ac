import process from 'node:process';
import type {ExecutionContext} from 'ava';
import {type JsonObject, listOf, objectOf} from '../../lib/protocol/json.js';
import {type CodexHome, codexes, codexHome} from './codex.js';
import type {CodexKind} from './codex-clients.js';
import {bridgeFile, temporaryFolder} from './peers.js';
import {type ScriptedModel, startModel} from './scripted-model.js';
import {loadSdk, type SdkClient, type SdkOptions} from './sdk.js';

/** What `bridge serve` needs to run a real Codex: a model, a home of Codex, and one for what bridge keeps. */
export type ServePlace = {
	readonly model: ScriptedModel;
	readonly home: CodexHome;
	readonly env: NodeJS.ProcessEnv;
};

export async function servePlace(t: ExecutionContext, kind: CodexKind): Promise<ServePlace> {
	t.timeout(170_000);
	const model = await startModel(t);
	const home = await codexHome(t, model, {});
	const base = await temporaryFolder(t);
	return {model, home, env: {...home.env, ATM_HOME: base, ATM_AGENT_MCP_CODEX_BIN: codexes[kind].launcher}};
}

/** What a tool gave back. */
export type Outcome = {readonly text: string; readonly isError: boolean; readonly structured: JsonObject};

/** The real SDK's client in front of `bridge serve` in front of a real Codex. */
export class RealClient {
	readonly sdk: SdkClient;
	readonly pid: number;

	private constructor(sdk: SdkClient, pid: number) {
		this.sdk = sdk;
		this.pid = pid;
	}

	static async start(t: ExecutionContext, {home, env}: ServePlace, ...args: string[]): Promise<RealClient> {
		const {Client, StdioClientTransport} = await loadSdk();
		const transport = new StdioClientTransport({
			...{command: process.execPath, args: [bridgeFile, 'serve', '--trust', ...args], env, cwd: home.folder},
			stderr: 'ignore',
		});
		const client = new Client({name: 'peers', version: '1'}, {capabilities: {}});
		await client.connect(transport);
		const pid = Number(Reflect.get(transport, 'pid'));
		t.teardown(() => client.close());
		// The SDK checks results against the schemas that it has seen.
		await client.listTools();
		return new RealClient(client, pid);
	}

	async call(name: string, args: JsonObject = {}, options?: SdkOptions): Promise<Outcome> {
		const result = objectOf(await this.sdk.callTool({name, arguments: args}, undefined, options));
		const text = listOf(result.content)
			.map(item => String(objectOf(item).text))
			.join('\n');
		return {text, isError: result.isError === true, structured: objectOf(result.structuredContent)};
	}

	async threads(): Promise<JsonObject[]> {
		return listOf((await this.call('codex_threads')).structured.threads).map(objectOf);
	}

	/** Waits until the session of this identity runs a turn. */
	async busy(identity: string): Promise<JsonObject> {
		for (;;) {
			const found = (await this.threads()).find(
				entry => entry.identity === identity && entry.state === 'busy',
			);
			if (found && found.thread_id !== null) return found;
		}
	}
}
