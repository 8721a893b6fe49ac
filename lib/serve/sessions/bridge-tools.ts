import {BridgeError} from '../../core/errors.js';
import {type Log, logBug} from '../../core/log.js';
import {didYouMean} from '../../util/did-you-mean.js';
import {isObject, type JsonObject, objectOf, toText} from '../../util/json.js';
import {printable, shortened} from '../../util/printable.js';
import type {AuditLog} from './audit-log.js';
import {assertKnownArguments} from './tool-arguments.js';
import {ToolError, toToolError} from './tool-error.js';

/** What there is to a call beside its arguments. */
export type BridgeToolContext = {
	/** The `_meta` of the call. */
	readonly meta: JsonObject;
	/** Does something once the answer is on its way, which must not be done if there is none. */
	readonly afterResponse: (action: () => Promise<void>) => void;
};

/** A tool that is answered here: what it gives back, or why it refuses. */
export type BridgeTool = (args: JsonObject, context: BridgeToolContext) => JsonObject | Promise<JsonObject>;

/** The result of a call, and what is to be called when it is on its way. */
type BridgeToolResponse = {readonly result: JsonObject; readonly onSent: () => void};

type BridgeToolsOptions = {
	readonly tools: Iterable<readonly [string, BridgeTool]>;
	/** How the tools are described: calls with other arguments are rejected. */
	readonly schemas: readonly JsonObject[];
	/** Tools of the server behind, whose calls are forwarded. With them, calls of unknown tools are rejected here. */
	readonly forwarded?: readonly string[];
	readonly auditLog: AuditLog;
	readonly log: Log;
};

/** The tools that are answered here, by their names. */
export class BridgeTools {
	readonly #tools: ReadonlyMap<string, BridgeTool>;
	readonly #options: BridgeToolsOptions;
	readonly #argumentNames: ReadonlyMap<string, readonly string[]>;
	/** What is done after answers. */
	readonly #pendingActions = new Set<Promise<void>>();

	constructor(options: BridgeToolsOptions) {
		this.#options = options;
		this.#tools = new Map(options.tools);
		this.#argumentNames = new Map(
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
	call(params: JsonObject): Promise<BridgeToolResponse> | undefined {
		const {name} = params;
		const {forwarded} = this.#options;
		const tool = this.#tools.get(String(name));
		if (tool) return this.#call(tool, params);
		if (!forwarded || forwarded.some(toolName => toolName === name)) return;
		return this.#call(() => this.#rejectUnknown(name), params);
	}

	#rejectUnknown(name: unknown): never {
		const suggestion = typeof name === 'string' ? didYouMean(name, this.names) : '';
		const shownName = printable(JSON.stringify(shortened(toText(name))));
		const available = `There are ${this.names.join(', ')}.`;
		throw new ToolError(
			'invalid_params',
			`There is no tool ${shownName}. ${suggestion === '' ? '' : `${suggestion} `}${available}`,
		);
	}

	/** Resolves when all is done that was to be done after answers. */
	async settled(): Promise<void> {
		await Promise.all(this.#pendingActions);
	}

	async #call(tool: BridgeTool, params: JsonObject): Promise<BridgeToolResponse> {
		const actions: Array<() => Promise<void>> = [];
		const context: BridgeToolContext = {
			meta: objectOf(params._meta),
			afterResponse: action => actions.push(action),
		};
		try {
			const args = parseArguments(params.arguments);
			const argumentNames = this.#argumentNames.get(String(params.name));
			if (argumentNames) assertKnownArguments(String(params.name), args, argumentNames);
			const value = await tool(args, context);
			const content = [{type: 'text', text: JSON.stringify(value, null, 2)}];
			return {
				result: {content, structuredContent: value},
				onSent: () => {
					for (const action of actions) this.#runAction(action);
				},
			};
		} catch (error) {
			if (!(error instanceof ToolError)) logBug(this.#options.log, error);
			const toolError = toToolError(error);
			this.#options.auditLog.callRejected(params, toolError);
			return {result: toolError.result, onSent: () => {}};
		}
	}

	#runAction(action: () => Promise<void>): void {
		const done = action()
			.catch(error => {
				const {log} = this.#options;
				if (error instanceof BridgeError) log.warn('tool.afterwards', error.sentence);
				else logBug(log, error);
			})
			.finally(() => this.#pendingActions.delete(done));
		this.#pendingActions.add(done);
	}
}

/** The arguments of a call, if they are some. */
function parseArguments(input: unknown): JsonObject {
	if (input === undefined) return {};
	if (isObject(input)) return input;
	throw new ToolError('invalid_params', 'The arguments have to be an object.');
}
