import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {promisify} from 'node:util';
import type {ExecutionContext} from 'ava';
import type {JsonObject} from '../../lib/util/json.js';
import {mcpdoFile, temporaryFolder} from './peers.js';
import {survivorsOf} from './processes.js';
import {type Outcome, outcomeOf} from './serve-client.js';

/** The Inspector's command line that connects once and runs many commands on that connection. */
export class Mcpdo {
	readonly #folder: string;

	private constructor(folder: string) {
		this.#folder = folder;
	}

	/** Starts one for servers by name. Processes that contain `marker` are killed after the test. */
	static async start(
		t: ExecutionContext,
		marker: string,
		mcpServers: {readonly [name: string]: object},
	): Promise<Mcpdo> {
		const folder = await temporaryFolder(t);
		await writeFile(join(folder, 'mcp.json'), JSON.stringify({mcpServers}));
		const mcpdo = new Mcpdo(folder);
		t.teardown(async () => {
			await mcpdo.#run('daemon', 'stop');
			await survivorsOf(marker);
		});
		return mcpdo;
	}

	/** Connects to a server. Later commands use the connection by this name. */
	async connect(name: string): Promise<void> {
		await this.#run('--config', join(this.#folder, 'mcp.json'), 'connect', name);
	}

	/** Disconnects from a server in any state. */
	async disconnect(name: string): Promise<void> {
		await this.#run('disconnect', name);
	}

	call(server: string, tool: string, args: JsonObject = {}): Promise<Outcome> {
		return this.#run('tools/call', '--connection', server, tool, JSON.stringify(args)).then(outcomeOf);
	}

	async #run(...args: string[]): Promise<unknown> {
		const env = {...process.env, HOME: this.#folder, MCP_INSPECTOR_DAEMON_DIR: join(this.#folder, 'mcpdo')};
		const words = [mcpdoFile, '--format', 'json', ...args];
		const running = promisify(execFile)(process.execPath, words, {env});
		// A result with isError also sets the exit code.
		const {stdout} = await running.catch((error: {stdout: string}) => {
			if (error.stdout === '') throw error;
			return error;
		});
		return JSON.parse(stdout);
	}
}
