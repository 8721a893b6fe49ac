import type {TrustedPacks} from '../config/folder-digest.js';
import type {ConfigLimits} from '../config/limits.js';
import type {Log} from '../core/log.js';
import {createRunPacks} from '../run/create-run-packs.js';
import {PackFolder} from '../run/pack-folder.js';
import type {Pack, Runner, RunnerOptions, ServerState} from '../run/types.js';
import {maxMembersFor} from '../run/value-limits.js';
import {type JsonObject, objectOf} from '../util/json.js';
import type {ResponseLimits} from './response-limits.js';
import {describeRun} from './run-description.js';

/** The packs and servers that the programs of one client can use. */
type RunScope = {
	readonly packs: () => readonly Pack[];
	readonly servers: () => readonly ServerState[];
	readonly clientToken: string;
};

export type RunToolOptions = {
	readonly log: Log;
	/** Creates the runner when it is first needed. */
	readonly createRunner: (options: RunnerOptions) => Promise<Runner>;
	readonly onChange: () => void;
};

type RunSettings = {
	readonly packs: string | undefined;
	/** The content that the packs must have; absent if any content is accepted. */
	readonly trustedPacks?: TrustedPacks;
	readonly startupTimeoutMs: number;
	readonly runTimeoutMs: number;
	readonly limits: Pick<ConfigLimits, 'clientRuns' | 'runCallBytes'>;
};

/** The maximum of `runTimeoutMs`. */
const MAX_RUN_MS = 3_600_000;

/** A response may contain its content twice, as text and as a value, and with escapes. */
const RESULTS_PER_RESPONSE = 4;
/** A response of this length is in memory several times until it is garbage-collected. */
const MAX_RESPONSE_BYTES = 2 ** 24;

/** The `run` tool. All clients share one runner, with its limits; their packs differ. */
export class RunTool {
	readonly #options: RunToolOptions;
	#runner: Promise<Runner> | undefined;
	#settings: RunSettings;
	#packFolder: PackFolder | undefined;

	constructor(options: RunToolOptions, settings: RunSettings) {
		this.#options = options;
		this.#settings = settings;
		this.#packFolder = this.#openPackFolder(settings);
	}

	get ready(): Promise<void> {
		return this.#packFolder?.ready ?? Promise.resolve();
	}

	get responseLimits(): ResponseLimits {
		const {runCallBytes} = this.#settings.limits;
		const maxBytes = Math.min(RESULTS_PER_RESPONSE * runCallBytes, MAX_RESPONSE_BYTES);
		return {maxBytes, maxMembers: maxMembersFor(runCallBytes), canBeRaised: maxBytes < MAX_RESPONSE_BYTES};
	}

	/**
	 * Applies other settings. Loaded packs are kept if their folder and their trusted content stay the same.
	 */
	async update(settings: RunSettings): Promise<void> {
		const previous = this.#settings;
		this.#settings = settings;
		const isSame = settings.trustedPacks?.sha256 === previous.trustedPacks?.sha256;
		if (settings.packs === previous.packs && isSame) return;
		this.#packFolder?.close();
		this.#packFolder = this.#openPackFolder(settings);
		await this.ready;
	}

	toolJson(packs: readonly Pack[]): string {
		return JSON.stringify({
			name: 'run',
			description: describeRun(createRunPacks([...this.#localPacks, ...packs], undefined, this.#options.log)),
			inputSchema: {
				type: 'object',
				properties: {command: {type: 'string', description: 'Python code'}},
				required: ['command'],
			},
			annotations: {readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true},
		});
	}

	/** Runs a program. Errors in the arguments are reported in the result, which models read. */
	async call(params: JsonObject, scope: RunScope, signal: AbortSignal): Promise<JsonObject> {
		const {command, ...others} = objectOf(params.arguments);
		if (typeof command !== 'string' || Object.keys(others).length > 0)
			return toolError('run takes one argument, command: Python code as text.');
		const runner = await this.#startRunner();
		await this.ready;
		const {packs, servers, clientToken} = scope;
		const {runTimeoutMs: timeoutMs, limits} = this.#settings;
		return runner.run(command, {
			signal,
			timeoutMs,
			servers,
			packs: () => [...this.#localPacks, ...packs()],
			client: clientToken,
			clientRuns: limits.clientRuns,
			maxCallBytes: limits.runCallBytes,
		});
	}

	async close(): Promise<void> {
		this.#packFolder?.close();
		const runner = await this.#runner;
		await runner?.close();
	}

	#startRunner(): Promise<Runner> {
		const {log, createRunner} = this.#options;
		this.#runner ??= createRunner({log, packs: () => [], runTimeoutMs: MAX_RUN_MS});
		return this.#runner;
	}

	get #localPacks(): readonly Pack[] {
		return this.#packFolder?.packs ?? [];
	}

	#openPackFolder({
		packs: folder,
		trustedPacks: trusted,
		startupTimeoutMs: timeoutMs,
	}: RunSettings): PackFolder | undefined {
		const {log, onChange} = this.#options;
		return folder === undefined ? undefined : new PackFolder({folder, trusted, log, timeoutMs, onChange});
	}
}

const toolError = (text: string): JsonObject => ({content: [{type: 'text', text}], isError: true});
