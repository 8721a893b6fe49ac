import {countGarbage} from '../core/fast/minor-collection.js';
import {parseWithBigInts, stringifyWithBigInts} from '../wire/bigint-json.js';
import {jsonComplexity} from '../wire/json-complexity.js';
import {bindArguments, type CallArguments} from './call-arguments.js';
import {ConcurrencyLimiter} from './concurrency-limiter.js';
import {parseBatch} from './parse-batch.js';
import {messageOf, ProgramError} from './program-error.js';
import {resolveTool} from './resolve-tool.js';
import {ResultBudget} from './result-budget.js';
import type {RunPacks} from './run-packs.js';
import {parseToolResult} from './tool-result.js';
import type {Arguments, ContentPart, Pack, PackTool} from './types.js';
import {MAX_NESTING, MAX_RESULT_VALUES, maxMembersFor, textLength} from './value-limits.js';

type PackCall = {readonly pack: string; readonly tool: string} & CallArguments;

/** A result as a value, and as the JSON that determines its size. */
type SizedResult = {readonly value: unknown; readonly json: string};

type CallLimits = {
	readonly maxCalls: number;
	readonly maxParallelCalls: number;
	readonly maxCallBytes: number;
};

/** Estimated copies of a result in memory: bytes, text, value and JSON. */
const MEMORY_COPIES = 4;
/** Estimated memory of an object member that needs its own hidden class. */
const MEMBER_BYTES = 300;
const MAX_ATTACHMENTS = 8;
const MAX_ATTACHED_LENGTH = 8 * 1024 * 1024;

/** Makes the calls of one run and enforces their limits. */
export class RunCalls {
	/** The tools that were called, as `pack.tool`. */
	readonly calledTools = new Set<string>();
	readonly attachments: ContentPart[] = [];
	readonly limits: CallLimits;
	readonly #packs: RunPacks;
	readonly #signal: AbortSignal;
	readonly #limiter: ConcurrencyLimiter;
	readonly #inFlight = new Map<symbol, string>();
	#callCount = 0;
	#attachedLength = 0;

	constructor(packs: RunPacks, limits: CallLimits, signal: AbortSignal) {
		this.#packs = packs;
		this.limits = limits;
		this.#signal = signal;
		this.#limiter = new ConcurrencyLimiter(limits.maxParallelCalls, limits.maxCalls);
	}

	/** The pending calls, as `pack.tool`. */
	get inFlight(): string[] {
		return [...new Set(this.#inFlight.values())];
	}

	/** Throws if the run has ended. */
	throwIfEnded(): void {
		this.#signal.throwIfAborted();
	}

	/** Throws a `NameError` for an unknown pack. Python does so before it evaluates the arguments. */
	checkPack(name: string): void {
		if (!this.#packs.get(name)) throw new ProgramError('NameError', this.#packs.unknownNameMessage(name));
	}

	/**
	 * Calls a tool and returns its result as the program sees it. Throws if the result exceeds one of the
	 * budgets.
	 */
	async call(call: PackCall, budgets: readonly ResultBudget[] = []): Promise<unknown> {
		return (await this.#callTool(call, budgets)).value;
	}

	/**
	 * Calls a tool and returns its result as JSON for an interpreter. The JSON is written only once, since
	 * copies of large results use memory that all clients share.
	 */
	async callJson(call: PackCall): Promise<string> {
		return (await this.#callTool(call, [])).json;
	}

	async #callTool(
		{pack: packName, tool: toolName, positional, named}: PackCall,
		budgets: readonly ResultBudget[],
	): Promise<SizedResult> {
		const {pack, tool} = await this.#resolveTool(packName, toolName);
		const name = `${packName}.${tool.name}`;
		const args = bindArguments(name, tool, {positional, named});
		this.#countCall();
		const release = await this.#limiter.acquire(this.#signal);
		const id = Symbol(name);
		this.#inFlight.set(id, name);
		try {
			for (const budget of budgets) budget.spend(0);
			this.calledTools.add(name);
			const result = await this.#invoke(pack, tool.name, name, args);
			const {value, attachments} =
				pack.source === 'local'
					? copyLocalResult(name, result)
					: parseToolResult(result, text => this.#checkText(name, text));
			// Checks long texts first, since their JSON would be another copy.
			const length = textLength(value);
			if (length > this.limits.maxCallBytes) throw this.#tooLarge(name, length);
			const json = stringifyWithBigInts(value);
			const bytes = Buffer.byteLength(json);
			if (bytes > this.limits.maxCallBytes) throw this.#tooLarge(name, bytes);
			for (const budget of budgets) budget.spend(bytes);
			this.#attach(attachments);
			countGarbage(MEMORY_COPIES * bytes);
			return {value, json};
		} finally {
			this.#inFlight.delete(id);
			release?.();
		}
	}

	/**
	 * Calls one tool many times in parallel, within the limit. Results are in the order of the items. With
	 * `return_errors`, a failed item becomes `{"error": …}`. The size limit of one result applies to the
	 * whole batch, since a batch is one message.
	 */
	async batch(call: PackCall, budgets: readonly ResultBudget[] = []): Promise<unknown[]> {
		return (await this.#callBatch(call, budgets)).map(({value}) => value);
	}

	/** Like `batch`, but returns JSON. */
	async batchJson(call: PackCall): Promise<string> {
		return `[${(await this.#callBatch(call, [])).map(({json}) => json).join(',')}]`;
	}

	async #callBatch(
		{pack, tool, ...callArguments}: PackCall,
		budgets: readonly ResultBudget[],
	): Promise<SizedResult[]> {
		const {items, returnErrors} = parseBatch(callArguments, this.limits.maxCalls);
		await this.#resolveTool(pack, tool);
		const allBudgets = [...budgets, new ResultBudget(this.limits.maxCallBytes, 'this batch')];
		const settled = await Promise.allSettled(
			items.map(item => this.#callTool({pack, tool, ...item}, allBudgets)),
		);
		return settled.map((outcome, at) => {
			if (outcome.status === 'fulfilled') return outcome.value;
			if (!returnErrors) throw itemError(outcome.reason, at);
			const value = {error: messageOf(outcome.reason)};
			return {value, json: JSON.stringify(value)};
		});
	}

	/** Finds the tool. The pending name is visible in timeout messages while its server connects. */
	async #resolveTool(pack: string, tool: string): Promise<{pack: Pack; tool: PackTool}> {
		const id = Symbol(tool);
		this.#inFlight.set(id, `${pack}.${tool}`);
		try {
			return await resolveTool(this.#packs, pack, tool, this.#signal);
		} finally {
			this.#inFlight.delete(id);
		}
	}

	#countCall(): void {
		const {maxCalls} = this.limits;
		if (++this.#callCount <= maxCalls) return;
		throw new ProgramError(
			'ToolError',
			`The run has reached its limit of ${maxCalls} calls. Make fewer calls, or split the program.`,
		);
	}

	/**
	 * Calls the pack. Rejects as soon as the call or the run times out, even if the pack does not react to
	 * the abort.
	 */
	#invoke(pack: Pack, tool: string, name: string, args: Arguments): Promise<unknown> {
		const {timeoutMs} = pack;
		const controller = new AbortController();
		return new Promise((resolve, reject) => {
			const abort = (reason: unknown): void => {
				reject(reason);
				controller.abort(reason);
			};
			const onAbort = (): void => abort(this.#signal.reason);
			this.#signal.addEventListener('abort', onAbort, {once: true});
			const timer = timeoutMs
				? setTimeout(() => abort(toolTimeoutError(name, timeoutMs)), timeoutMs)
				: undefined;
			const settleOnce = (settle: () => void): void => {
				clearTimeout(timer);
				this.#signal.removeEventListener('abort', onAbort);
				settle();
			};
			const callPack = async (): Promise<unknown> => pack.call(tool, args, controller.signal);
			callPack().then(
				result => settleOnce(() => resolve(result)),
				error => settleOnce(() => reject(toProgramError(error))),
			);
		});
	}

	/** Rejects JSON that is too large or complex, before it is parsed. */
	#checkText(name: string, text: string): void {
		if (text.length > this.limits.maxCallBytes) throw this.#tooLarge(name, Buffer.byteLength(text));
		// A text this short has few values and cannot be nested too deeply.
		if (text.length <= MAX_NESTING) return;
		const {values, members, depth} = jsonComplexity(Buffer.from(text));
		countGarbage(text.length + members * MEMBER_BYTES);
		const maxMembers = maxMembersFor(this.limits.maxCallBytes);
		if (values <= MAX_RESULT_VALUES && members <= maxMembers && depth <= MAX_NESTING) return;
		const excess =
			values > MAX_RESULT_VALUES
				? `more than ${MAX_RESULT_VALUES} values. Request less data`
				: members > maxMembers
					? `more than ${maxMembers} members of objects. Request less data, or raise limits.runCall`
					: 'a value that is nested too deeply. Request less data';
		throw new ProgramError('ToolError', `${name} returned ${excess}.`);
	}

	#tooLarge(name: string, bytes: number): ProgramError {
		const {maxCallBytes} = this.limits;
		return new ProgramError(
			'ToolError',
			`${name} returned ${bytes} bytes; the limit is ${maxCallBytes}. Request less data.`,
		);
	}

	#attach(attachments: readonly ContentPart[]): void {
		for (const part of attachments) {
			this.#attachedLength += part.type === 'text' ? part.text.length : part.data.length;
			const isWithinLimits =
				this.attachments.length < MAX_ATTACHMENTS && this.#attachedLength <= MAX_ATTACHED_LENGTH;
			if (isWithinLimits) this.attachments.push(part);
		}
	}
}

function toProgramError(error: unknown): ProgramError {
	return error instanceof ProgramError ? error : new ProgramError('ToolError', messageOf(error));
}

function itemError(error: unknown, at: number): ProgramError {
	const {type, message} = toProgramError(error);
	return new ProgramError(type, `item ${at} of the batch: ${message}`);
}

export const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)}s`;

const toolTimeoutError = (name: string, ms: number): ProgramError =>
	new ProgramError('ToolTimeout', `Tool ${name} timed out after ${formatSeconds(ms)}`);

/** Copies the result of a local tool through JSON, so that programs get no objects of this process. */
function copyLocalResult(
	name: string,
	result: unknown,
): {value: unknown; attachments: readonly ContentPart[]} {
	try {
		const text = stringifyWithBigInts(result);
		return {value: text === undefined ? null : parseWithBigInts(text), attachments: []};
	} catch (error) {
		const [reason] = messageOf(error).split('\n');
		throw new ProgramError('ToolError', `${name} returned a value that is not JSON: ${reason}`);
	}
}
