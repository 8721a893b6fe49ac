import {BridgeError} from '../errors.js';
import {type Log, logBug} from '../log.js';
import {nearest} from '../nearest.js';
import {printable, shortened} from '../printable.js';
import {isObject, type JsonObject, objectOf, worded} from '../protocol/json.js';
import {checkKnown} from './argument-names.js';
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
	/** How the tools are described: calls with other arguments are rejected. */
	readonly schemas: readonly JsonObject[];
	/** Tools of the server behind, whose calls are forwarded. With them, calls of unknown tools are rejected here. */
	readonly forwarded?: readonly string[];
	readonly journal: Journal;
	readonly log: Log;
};

/** The tools that are answered here, by their names. */
export class OwnTools {
	readonly #tools: ReadonlyMap<string, OwnTool>;
	readonly #options: OwnToolsOptions;
	readonly #arguments: ReadonlyMap<string, readonly string[]>;
	/** What is done after answers. */
	readonly #later = new Set<Promise<void>>();

	constructor(options: OwnToolsOptions) {
		this.#options = options;
		this.#tools = new Map(options.tools);
		this.#arguments = new Map(
			options.schemas.map(({name, inputSchema}) => [
				String(name),
				Object.keys(objectOf(objectOf(inputSchema).properties)),
			]),
		);
	}

	get names(): string[] {
		return [...(this.#options.forwarded ?? []), ...this.#tools.keys()];
	}

	/** The answer to a call; undefined where it is none of these tools, and has to be answered elsewhere. */
	call(params: JsonObject): Promise<OwnAnswer> | undefined {
		const {name} = params;
		const {forwarded} = this.#options;
		const own = this.#tools.get(String(name));
		if (own) return this.#call(own, params);
		if (!forwarded || forwarded.some(each => each === name)) return;
		return this.#call(() => this.#reject(name), params);
	}

	#reject(name: unknown): never {
		const near = typeof name === 'string' ? nearest(name, this.names) : '';
		const what = printable(JSON.stringify(shortened(worded(name))));
		const there = `There are ${this.names.join(', ')}.`;
		throw new Refusal('invalid_params', `There is no tool ${what}. ${near === '' ? '' : `${near} `}${there}`);
	}

	/** Resolves when all is done that was to be done after answers. */
	async settled(): Promise<void> {
		await Promise.all(this.#later);
	}

	async #call(own: OwnTool, params: JsonObject): Promise<OwnAnswer> {
		const actions: Array<() => Promise<void>> = [];
		const context: CallContext = {meta: objectOf(params._meta), afterAnswer: action => actions.push(action)};
		try {
			const args = argumentsOf(params.arguments);
			const known = this.#arguments.get(String(params.name));
			if (known) checkKnown(String(params.name), args, known);
			const value = await own(args, context);
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
