import {AsyncLocalStorage} from 'node:async_hooks';
import type {Log} from '../log.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import type {Pack, Runner, RunnerOptions, ServerState} from '../run/types.js';
import {describeRun} from './run-description.js';

/** What a program of one client can call. */
export type RunScope = {
	readonly packs: () => readonly Pack[];
	readonly servers: () => readonly ServerState[];
};

export type RunToolOptions = {
	readonly log: Log;
	/** Makes what runs programs, with the local packs of a folder, if there is one. It is only made when it is needed. */
	readonly createRunner: (options: RunnerOptions) => Promise<Runner>;
};

/** The `run` tool: one runner, with its limits, for all clients; each of them has packs of its own. */
export class RunTool {
	readonly #options: RunToolOptions;
	readonly #scope = new AsyncLocalStorage<RunScope>();
	#runner: Promise<Runner> | undefined;

	constructor(options: RunToolOptions) {
		this.#options = options;
	}

	/** The tool as it is listed. */
	listed(packs: readonly Pack[]): string {
		return JSON.stringify({
			name: 'run',
			description: describeRun(packs),
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
		const runner = await this.#ready();
		return this.#scope.run(scope, () => runner.run(command, {signal}));
	}

	async close(): Promise<void> {
		const runner = await this.#runner;
		await runner?.close();
	}

	#ready(): Promise<Runner> {
		const {log, createRunner} = this.#options;
		this.#runner ??= createRunner({
			log,
			packs: () => this.#scope.getStore()?.packs() ?? [],
			servers: () => this.#scope.getStore()?.servers() ?? [],
		});
		return this.#runner;
	}
}

const refusal = (text: string): JsonObject => ({content: [{type: 'text', text}], isError: true});
