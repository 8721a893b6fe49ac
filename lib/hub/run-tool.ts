import type {Log} from '../log.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {loadLocalPacks} from '../run/local-packs.js';
import type {Pack, Runner, RunnerOptions, ServerState} from '../run/types.js';
import {describeRun} from './run-description.js';

/** What a program of one client can call. */
export type RunScope = {
	readonly packs: () => readonly Pack[];
	readonly servers: () => readonly ServerState[];
};

export type RunToolOptions = {
	readonly log: Log;
	/** Makes what runs programs. It is only made when it is needed. */
	readonly createRunner: (options: RunnerOptions) => Promise<Runner>;
	/** Where local packs are, if there are any. */
	readonly folder: string | undefined;
};

/** The `run` tool: one runner, with its limits, for all clients; each of them has packs of its own. */
export class RunTool {
	readonly #options: RunToolOptions;
	#runner: Promise<Runner> | undefined;
	#local: readonly Pack[] = [];
	/** Resolves when the local packs are there. */
	ready: Promise<void>;

	constructor(options: RunToolOptions) {
		this.#options = options;
		this.ready = this.load(options.folder);
	}

	/** Takes the local packs of a folder for those that there are. What is loaded already stays as it is. */
	load(folder: string | undefined): Promise<void> {
		const loading = folder === undefined ? Promise.resolve([]) : loadLocalPacks(folder, this.#options.log);
		this.ready = loading.then(packs => {
			this.#local = packs;
		});
		return this.ready;
	}

	/** The tool as it is listed. */
	listed(packs: readonly Pack[]): string {
		return JSON.stringify({
			name: 'run',
			description: describeRun([...this.#local, ...packs]),
			inputSchema: {
				type: 'object',
				properties: {command: {type: 'string', description: 'Python code'}},
				required: ['command'],
			},
			annotations: {readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true},
		});
	}

	/** Runs what a call of the tool asks for. What is wrong with that is told in the result, which models read. */
	async call(params: JsonObject, scope: RunScope, signal: AbortSignal): Promise<JsonObject> {
		const {command, ...others} = objectOf(params.arguments);
		if (typeof command !== 'string' || Object.keys(others).length > 0)
			return refusal('run takes one argument, command: Python code as text.');
		const runner = await this.#started();
		await this.ready;
		const {packs, servers} = scope;
		return runner.run(command, {signal, servers, packs: () => [...this.#local, ...packs()]});
	}

	async close(): Promise<void> {
		const runner = await this.#runner;
		await runner?.close();
	}

	#started(): Promise<Runner> {
		const {log, createRunner} = this.#options;
		this.#runner ??= createRunner({log, packs: () => []});
		return this.#runner;
	}
}

const refusal = (text: string): JsonObject => ({content: [{type: 'text', text}], isError: true});
