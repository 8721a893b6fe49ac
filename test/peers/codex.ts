import {type ChildProcessByStdio, execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Readable, Writable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import type {ExecutionContext} from 'ava';
import ndjson from 'ndjson';
import {peerUrl, temporaryFolder} from './peers.js';
import type {ScriptedModel} from './scripted-model.js';

// The native program: its npm launcher would add a process that can leave another behind.
const platform = {x64: 'x86_64-unknown-linux-musl', arm64: 'aarch64-unknown-linux-musl'}[
	String(process.arch)
];
const nativePath = `@openai/codex-linux-${process.arch}/vendor/${platform}/bin/codex`;
const program = fileURLToPath(peerUrl(nativePath));

/**
 * The last Codex with `mcp-server` and the current one, each with its npm launcher and its native program.
 */
export const codexes = {
	'mcp-server': {
		launcher: fileURLToPath(peerUrl('codex-0-153/bin/codex.js')),
		native: fileURLToPath(peerUrl(`codex-0-153/node_modules/${nativePath}`)),
	},
	'app-server': {launcher: fileURLToPath(peerUrl('@openai/codex/bin/codex.js')), native: program},
} as const;

/** A Codex home whose only model is the scripted one. */
export interface CodexHome {
	readonly folder: string;
	readonly env: Readonly<Record<string, string>>;
}

function configuration(
	model: ScriptedModel,
	servers: Readonly<Record<string, string>>,
	more: string,
): string {
	const tables = Object.entries(servers).map(
		([name, url]) =>
			// With `required`, the first turn waits for the tools. With `approve`, tools are called without
			// a prompt.
			`[mcp_servers.${name}]\nurl = "${url}"\nrequired = true\ndefault_tools_approval_mode = "approve"\n`,
	);
	return `model = "scripted"
model_provider = "scripted"
model_context_window = 200000
approval_policy = "never"
sandbox_mode = "read-only"
web_search = "disabled"
check_for_update_on_startup = false
cli_auth_credentials_store = "file"

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${model.port}/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[feedback]
enabled = false

[features]
apps = false
plugins = false

${tables.join('\n')}
${more}`;
}

/** Writes a Codex home with these MCP servers, URL by name, and additional tables. */
export async function codexHome(
	t: Pick<ExecutionContext, 'teardown'>,
	model: ScriptedModel,
	servers: Readonly<Record<string, string>>,
	more = '',
): Promise<CodexHome> {
	const folder = await temporaryFolder(t);
	await writeFile(join(folder, 'config.toml'), configuration(model, servers, more));
	// Excludes the user's environment, such as keys and proxies.
	return {folder, env: {PATH: process.env.PATH ?? '', HOME: folder, CODEX_HOME: folder}};
}

/** Runs one turn with `codex exec`, and returns the last message of the model. */
export async function codexExec({folder, env}: CodexHome, prompt: string): Promise<string> {
	const args = ['exec', '--strict-config', '--skip-git-repo-check', prompt];
	const running = promisify(execFile)(program, args, {cwd: folder, env});
	// With stdin open, Codex would wait for more of the prompt.
	running.child.stdin?.end();
	return (await running).stdout.trim();
}

/** The output of `codex mcp list`, which also checks whether a server requires a login. */
export async function codexServers({folder, env}: CodexHome): Promise<unknown> {
	const {stdout} = await promisify(execFile)(program, ['mcp', 'list', '--json'], {cwd: folder, env});
	return JSON.parse(stdout);
}

interface Message {
	readonly id?: number;
	readonly method?: string;
	readonly params?: unknown;
	readonly result?: unknown;
	readonly error?: {readonly message: string};
}

interface Turn {
	readonly status: string;
	readonly items: ReadonlyArray<{readonly text?: string}>;
}

/** Codex as an IDE runs it: one process, in which a thread has many turns. */
export class CodexAppServer {
	readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
	readonly #listeners = new Set<(message: Message) => void>();
	#lastId = 0;
	#stderr = '';

	private constructor(t: ExecutionContext, {folder, env}: CodexHome) {
		this.#child = spawn(program, ['app-server', '--strict-config'], {cwd: folder, env, stdio: 'pipe'});
		this.#child.stderr.on('data', chunk => {
			this.#stderr = (this.#stderr + String(chunk)).slice(-10_000);
		});
		this.#child.stdout.pipe(ndjson.parse()).on('data', (message: Message) => {
			for (const listener of this.#listeners) listener(message);
		});
		t.teardown(() => this.#child.kill('SIGKILL'));
	}

	static async start(t: ExecutionContext, home: CodexHome): Promise<CodexAppServer> {
		const codex = new CodexAppServer(t, home);
		await codex.#request('initialize', {clientInfo: {name: 'peers', version: '0'}, capabilities: null});
		codex.#send({method: 'initialized'});
		return codex;
	}

	/** Starts a thread. Resolves when all MCP servers are connected. */
	async startThread(): Promise<string> {
		const {thread} = (await this.#request('thread/start', {})) as {thread: {id: string}};
		return thread.id;
	}

	/** Runs a turn, and returns its status and the last message of the model. */
	async turn(threadId: string, text: string): Promise<string> {
		const completed = this.#first(({method}) => method === 'turn/completed');
		await this.#request('turn/start', {threadId, input: [{type: 'text', text}]});
		const {turn} = (await completed).params as {turn: Turn};
		return `${turn.status}: ${turn.items.at(-1)?.text}`;
	}

	/** Closes stdin as an IDE does, and returns the exit code. */
	async close(): Promise<unknown> {
		const ended = once(this.#child, 'exit');
		this.#child.stdin.end();
		return (await ended)[0];
	}

	async #request(method: string, params: object): Promise<unknown> {
		this.#lastId += 1;
		const id = this.#lastId;
		const response = this.#first(message => message.id === id && message.method === undefined);
		this.#send({id, method, params});
		const {result, error} = await response;
		if (error) throw new Error(`${method}: ${error.message}\n${this.#stderr}`);
		return result;
	}

	#send(message: Message): void {
		this.#child.stdin.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
	}

	#first(isWanted: (message: Message) => boolean): Promise<Message> {
		return new Promise((resolve, reject) => {
			const ended = (): void => reject(new Error(`Codex exited: ${this.#stderr}`));
			const listener = (message: Message): void => {
				if (!isWanted(message)) return;
				this.#listeners.delete(listener);
				this.#child.off('exit', ended);
				resolve(message);
			};
			this.#listeners.add(listener);
			this.#child.once('exit', ended);
		});
	}
}
