import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {type JsonObject, listOf, objectOf} from '../../lib/util/json.js';
import {type Place, placeFor} from '../e2e/serve/support.js';
import {type CodexHome, codexes, codexHome} from './codex.js';
import type {CodexKind} from './codex-clients.js';
import {bridgeFile} from './peers.js';
import {type ScriptedModel, startModel} from './scripted-model.js';
import {loadSdk, type SdkClient, type SdkOptions} from './sdk.js';

/**
 * The environment of `bridge serve` with a real Codex: a repository, a model, a home for Codex and one for
 * bridge.
 */
export type ServePlace = Place & {readonly model: ScriptedModel; readonly home: CodexHome};

type Lasting = Pick<ExecutionContext, 'teardown'>;

export async function servePlace(t: Lasting, kind: CodexKind): Promise<ServePlace> {
	const model = await startModel(t);
	const home = await codexHome(t, model, {});
	const place = placeFor(t, {...home.env, ATM_AGENT_MCP_CODEX_BIN: codexes[kind].launcher});
	return {...place, model, home};
}

/** The result of a tool call. */
export type Outcome = {
	readonly text: string;
	readonly isError: boolean;
	readonly structured: JsonObject;
	/** The structured error of a rejected call. */
	readonly error: JsonObject;
	readonly codexId: string;
};

export function outcomeOf(response: unknown): Outcome {
	const result = objectOf(response);
	const text = listOf(result.content)
		.map(item => String(objectOf(item).text))
		.join('\n');
	const structured = objectOf(result.structuredContent);
	return {
		text,
		isError: result.isError === true,
		structured,
		error: objectOf(structured.error),
		codexId: String(structured.codex_id),
	};
}

export type ClientOptions = {
	/** The arguments after `bridge serve`. */
	readonly args?: readonly string[];
	/** Responds to the elicitations of Codex. Without it the client does not support elicitation. */
	readonly onElicitation?: (params: JsonObject) => object;
};

type BridgeProcess = {readonly pid: number; readonly stdin: NodeJS.WritableStream};

/** The real SDK's client, connected to `bridge serve` with a real Codex. */
export class RealClient {
	readonly sdk: SdkClient;
	readonly pid: number;
	/** The stderr output of bridge so far. */
	stderr = '';
	/** Resolves when bridge has exited. */
	readonly gone: Promise<void>;

	readonly #process: BridgeProcess;

	private constructor(sdk: SdkClient, running: BridgeProcess) {
		this.sdk = sdk;
		this.#process = running;
		this.pid = running.pid;
		this.gone = new Promise(resolve => {
			sdk.onclose = resolve;
		});
	}

	static async start(
		t: Lasting,
		{repo, env}: Pick<ServePlace, 'repo' | 'env'>,
		{args = [], onElicitation}: ClientOptions = {},
	): Promise<RealClient> {
		const {Client, StdioClientTransport, schema} = await loadSdk();
		const transport = new StdioClientTransport({
			command: process.execPath,
			args: [bridgeFile, 'serve', '--trust', ...args],
			env,
			cwd: repo,
			stderr: 'pipe',
		});
		const sdk = new Client(
			{name: 'peers', version: '1'},
			{capabilities: onElicitation ? {elicitation: {}} : {}},
		);
		if (onElicitation)
			sdk.setRequestHandler(schema('ElicitRequestSchema'), request =>
				onElicitation(objectOf(objectOf(request).params)),
			);
		await sdk.connect(transport);
		// The SDK's close() sends a signal after 2 s, so tests use the process directly.
		const client = new RealClient(sdk, Reflect.get(transport, '_process') as BridgeProcess);
		transport.stderr?.on('data', chunk => {
			client.stderr += String(chunk);
		});
		t.teardown(() => sdk.close());
		// The SDK checks results against the output schemas of listed tools.
		await sdk.listTools();
		return client;
	}

	async call(name: string, args: JsonObject = {}, options?: SdkOptions): Promise<Outcome> {
		return outcomeOf(await this.sdk.callTool({name, arguments: args}, undefined, options));
	}

	codex(args: JsonObject, options?: SdkOptions): Promise<Outcome> {
		return this.call('codex', args, options);
	}

	reply(codexId: unknown, prompt: string, options?: SdkOptions): Promise<Outcome> {
		return this.call('codex-reply', {codex_id: codexId, prompt}, options);
	}

	close(codexId: unknown): Promise<Outcome> {
		return this.call('codex_close', {codex_id: codexId});
	}

	async status(): Promise<JsonObject> {
		return (await this.call('codex_status')).structured;
	}

	async threads(args: JsonObject = {}): Promise<JsonObject[]> {
		return listOf((await this.call('codex_threads', args)).structured.threads).map(objectOf);
	}

	async thread(codexId: unknown): Promise<JsonObject | undefined> {
		return (await this.threads({include_closed: true})).find(({codex_id: id}) => id === codexId);
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

	/** Closes the stdin of bridge without a signal, and waits for its exit. */
	async closeInput(): Promise<void> {
		this.#process.stdin.end();
		await this.gone;
	}

	/** Sends a signal to bridge, and waits for its exit. */
	async kill(signal: NodeJS.Signals): Promise<void> {
		process.kill(this.pid, signal);
		await this.gone;
	}
}

export type Serving = {readonly at: ServePlace; readonly client: RealClient};

/**
 * Shares one `bridge serve` per kind of Codex between all tests of a file, since starting Codex is slow.
 * Sessions that a test leaves open are closed after it.
 */
export function shareServe(
	kinds: readonly CodexKind[],
	prepare: (at: ServePlace) => ClientOptions = () => ({}),
): (kind: CodexKind) => Serving {
	const endings: Array<() => unknown> = [];
	// ava hooks have no teardown.
	const later: Lasting = {teardown: end => void endings.push(end)};
	const servings = new Map<CodexKind, Serving>();
	test.serial.before(async () => {
		for (const kind of kinds) {
			const at = await servePlace(later, kind);
			servings.set(kind, {at, client: await RealClient.start(later, at, prepare(at))});
		}
	});
	test.serial.afterEach.always(async () => {
		for (const {client} of servings.values())
			for (const {codex_id: codexId, status} of await client.threads({include_closed: false}))
				if (status === 'active') await client.close(codexId);
	});
	test.after.always(async () => {
		for (const end of endings.reverse()) await end();
	});
	return kind => {
		const serving = servings.get(kind);
		if (!serving) throw new Error('The server starts before the first test.');
		return serving;
	};
}
