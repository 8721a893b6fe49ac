import {BridgeError} from '../errors.js';
import {type Log, logBug} from '../log.js';
import {isObject, type JsonObject, objectOf} from '../protocol/json.js';
import type {Journal} from './journal.js';
import {asRefusal, Refusal} from './refusal.js';

/** What there is to a call beside its arguments. */
export type CallContext = {
	/** The `_meta` of the call. */
	readonly meta: JsonObject;
	/** Does something once the answer is on its way, which must not be done if there is none. */
	readonly afterAnswer: (action: () => Promise<void>) => void;
};

/** A tool that is answered here: what it gives back, or why it refuses. */
export type OwnTool = (args: JsonObject, context: CallContext) => JsonObject | Promise<JsonObject>;

/** The result of a call, and what is to be called when it is on its way. */
export type OwnAnswer = {readonly result: JsonObject; readonly answered: () => void};

export type OwnToolsOptions = {
	readonly tools: Iterable<readonly [string, OwnTool]>;
	readonly journal: Journal;
	readonly log: Log;
};

/** The tools that are answered here, by their names. */
export class OwnTools {
	readonly #tools: ReadonlyMap<string, OwnTool>;
	readonly #options: OwnToolsOptions;
	/** What is done after answers. */
	readonly #later = new Set<Promise<void>>();

	constructor(options: OwnToolsOptions) {
		this.#options = options;
		this.#tools = new Map(options.tools);
	}

	get names(): string[] {
		return [...this.#tools.keys()];
	}

	/** The answer to a call; undefined where it is none of these tools. */
	call(params: JsonObject): Promise<OwnAnswer> | undefined {
		const own = this.#tools.get(String(params.name));
		return own && this.#call(own, params);
	}

	/** Resolves when all is done that was to be done after answers. */
	async settled(): Promise<void> {
		await Promise.all(this.#later);
	}

	async #call(own: OwnTool, params: JsonObject): Promise<OwnAnswer> {
		const actions: Array<() => Promise<void>> = [];
		const context: CallContext = {meta: objectOf(params._meta), afterAnswer: action => actions.push(action)};
		try {
			const value = await own(argumentsOf(params.arguments), context);
			const content = [{type: 'text', text: JSON.stringify(value, null, 2)}];
			return {
				result: {content, structuredContent: value},
				answered: () => {
					for (const action of actions) this.#do(action);
				},
			};
		} catch (error) {
			if (!(error instanceof Refusal)) logBug(this.#options.log, error);
			const refusal = asRefusal(error);
			this.#options.journal.refused(params, refusal);
			return {result: refusal.result, answered: () => {}};
		}
	}

	#do(action: () => Promise<void>): void {
		const done = action()
			.catch(error => {
				const {log} = this.#options;
				if (error instanceof BridgeError) log.warn('tool.afterwards', error.sentence);
				else logBug(log, error);
			})
			.finally(() => this.#later.delete(done));
		this.#later.add(done);
	}
}

/** The arguments of a call, if they are some. */
function argumentsOf(given: unknown): JsonObject {
	if (given === undefined) return {};
	if (isObject(given)) return given;
	throw new Refusal('invalid_params', 'The arguments have to be an object.');
}
