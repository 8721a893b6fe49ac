import {BridgeError} from '../../core/errors.js';
import {type Log, logBug} from '../../core/log.js';
import {didYouMean} from '../../util/did-you-mean.js';
import {isObject, type JsonObject, objectOf, toText} from '../../util/json.js';
import {printable, shortened} from '../../util/printable.js';
import type {AuditLog} from './audit-log.js';
import {assertKnownArguments} from './tool-arguments.js';
import {ToolError, toToolError} from './tool-error.js';

export type BridgeToolContext = {
	readonly meta: JsonObject;
	/** Runs an action after the response was sent. It does not run if the call fails. */
	readonly afterResponse: (action: () => Promise<void>) => void;
};

/** A tool that bridge implements. Throws a `ToolError` to reject the call. */
export type BridgeTool = (args: JsonObject, context: BridgeToolContext) => JsonObject | Promise<JsonObject>;

/** The result of a call. The caller invokes `onSent` after sending it. */
type BridgeToolResponse = {readonly result: JsonObject; readonly onSent: () => void};

type BridgeToolsOptions = {
	readonly tools: Iterable<readonly [string, BridgeTool]>;
	/** Definitions of the tools. Arguments that they do not declare are rejected. */
	readonly schemas: readonly JsonObject[];
	/** Tools of the upstream, whose calls are forwarded. If set, calls of unknown tools are rejected here. */
	readonly forwarded?: readonly string[];
	readonly auditLog: AuditLog;
	readonly log: Log;
};

/** Runs calls of the tools that bridge implements. */
export class BridgeTools {
	readonly #tools: ReadonlyMap<string, BridgeTool>;
	readonly #options: BridgeToolsOptions;
	readonly #argumentNames: ReadonlyMap<string, readonly string[]>;
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

	/** Runs a call. Returns undefined for tools that bridge does not implement. */
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
		const available = `Available tools: ${this.names.join(', ')}.`;
		throw new ToolError(
			'invalid_params',
			`Unknown tool ${shownName}. ${suggestion === '' ? '' : `${suggestion} `}${available}`,
		);
	}

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

function parseArguments(input: unknown): JsonObject {
	if (input === undefined) return {};
	if (isObject(input)) return input;
	throw new ToolError('invalid_params', 'The arguments must be an object.');
}
