import {countGarbage} from '../minor-collection.js';
import {parseExact, writeExact} from '../wire/exact-integers.js';
import {jsonWeight} from '../wire/json-weight.js';
import {bind, type Given} from './arguments.js';
import {batchOf} from './batch.js';
import {Gate} from './gate.js';
import type {Packs} from './packs.js';
import {messageOf, ProgramError} from './program-error.js';
import {ResultBudget} from './result-budget.js';
import {toolForCall} from './tool-for-call.js';
import type {Arguments, ContentPart, Pack, PackTool} from './types.js';
import {MAX_NESTING, MAX_RESULT_VALUES, membersIn, textLength} from './value-limits.js';
import {outcomeOf} from './values.js';

/** One call as a program writes it. */
export type Call = {readonly pack: string; readonly tool: string} & Given;

/** A result as a value, and as the JSON that its size was counted in. */
type Result = {readonly value: unknown; readonly json: string};

export type CallLimits = {
	readonly maxCalls: number;
	readonly maxParallelCalls: number;
	readonly maxCallBytes: number;
};

/** A result is in memory about this many times: as bytes, text, value and JSON. */
const COPIES = 4;
/** The memory of a member whose object has a hidden class of its own. */
const MEMBER_BYTES = 300;
const MAX_ATTACHMENTS = 8;
const MAX_ATTACHED_LENGTH = 8 * 1024 * 1024;

/** All that one run calls, within its limits. */
export class Calls {
	/** Every tool that was called, as `pack.tool`. */
	readonly made = new Set<string>();
	readonly attachments: ContentPart[] = [];
	readonly limits: CallLimits;
	readonly #packs: Packs;
	readonly #signal: AbortSignal;
	readonly #gate: Gate;
	readonly #inFlight = new Map<symbol, string>();
	#count = 0;
	#attachedLength = 0;

	constructor(packs: Packs, limits: CallLimits, signal: AbortSignal) {
		this.#packs = packs;
		this.limits = limits;
		this.#signal = signal;
		this.#gate = new Gate(limits.maxParallelCalls, limits.maxCalls);
	}

	/** What the program waits for now, as `pack.tool`. */
	get inFlight(): string[] {
		return [...new Set(this.#inFlight.values())];
	}

	/** Fails when the run is over. */
	throwIfOver(): void {
		this.#signal.throwIfAborted();
	}

	/** Fails for a pack that there is not, as Python does before it looks at the arguments. */
	checkPack(name: string): void {
		if (!this.#packs.get(name)) throw new ProgramError('NameError', this.#packs.unknown(name));
	}

	/** Calls a tool and returns what a program sees of its result, as far as that fits into each of the budgets. */
	async call(call: Call, budgets: readonly ResultBudget[] = []): Promise<unknown> {
		return (await this.#result(call, budgets)).value;
	}

	/** The same as JSON, which an interpreter reads. It is written once: copies of large results take the memory of all clients. */
	async callJson(call: Call): Promise<string> {
		return (await this.#result(call, [])).json;
	}

	async #result(
		{pack: packName, tool: toolName, positional, named}: Call,
		budgets: readonly ResultBudget[],
	): Promise<Result> {
		const {pack, tool} = await this.#found(packName, toolName);
		const name = `${packName}.${tool.name}`;
		const args = bind(name, tool, {positional, named});
		this.#countOne();
		const leave = await this.#gate.enter(this.#signal);
		const id = Symbol(name);
		this.#inFlight.set(id, name);
		try {
			for (const budget of budgets) budget.spend(0);
			this.made.add(name);
			const result = await this.#ask(pack, tool.name, name, args);
			const {value, attachments} =
				pack.source === 'local'
					? local(name, result)
					: outcomeOf(result, text => this.#checkText(name, text));
			// The JSON of long texts would be another copy of them.
			const length = textLength(value);
			if (length > this.limits.maxCallBytes) throw this.#tooLarge(name, length);
			const json = writeExact(value);
			const bytes = Buffer.byteLength(json);
			if (bytes > this.limits.maxCallBytes) throw this.#tooLarge(name, bytes);
			for (const budget of budgets) budget.spend(bytes);
			this.#attach(attachments);
			countGarbage(COPIES * bytes);
			return {value, json};
		} finally {
			this.#inFlight.delete(id);
			leave?.();
		}
	}

	/**
	 * Runs many calls of one tool in parallel, within the limit. Results are in the order of the items. With
	 * `return_errors`, an item that failed is `{"error": …}` in its place. The limit of one result applies to all results together:
	 * they are one message.
	 */
	async batch(call: Call, budgets: readonly ResultBudget[] = []): Promise<unknown[]> {
		return (await this.#results(call, budgets)).map(({value}) => value);
	}

	/** The same as JSON. */
	async batchJson(call: Call): Promise<string> {
		return `[${(await this.#results(call, [])).map(({json}) => json).join(',')}]`;
	}

	async #results({pack, tool, ...given}: Call, budgets: readonly ResultBudget[]): Promise<Result[]> {
		const {items, returnErrors} = batchOf(given, this.limits.maxCalls);
		await this.#found(pack, tool);
		const all = [...budgets, new ResultBudget(this.limits.maxCallBytes, 'this batch')];
		const settled = await Promise.allSettled(items.map(item => this.#result({pack, tool, ...item}, all)));
		return settled.map((outcome, at) => {
			if (outcome.status === 'fulfilled') return outcome.value;
			if (!returnErrors) throw itemError(outcome.reason, at);
			const value = {error: messageOf(outcome.reason)};
			return {value, json: JSON.stringify(value)};
		});
	}

	/** The tool, which the run may have to wait for. */
	async #found(pack: string, tool: string): Promise<{pack: Pack; tool: PackTool}> {
		const id = Symbol(tool);
		this.#inFlight.set(id, `${pack}.${tool}`);
		try {
			return await toolForCall(this.#packs, pack, tool, this.#signal);
		} finally {
			this.#inFlight.delete(id);
		}
	}

	#countOne(): void {
		const {maxCalls} = this.limits;
		if (++this.#count <= maxCalls) return;
		throw new ProgramError('ToolError', `A run may make ${maxCalls} calls, and this one has made them.`);
	}

	/** The result, or an error as soon as the time of the call or of the run is over, whatever the pack does then. */
	#ask(pack: Pack, tool: string, name: string, args: Arguments): Promise<unknown> {
		const {timeoutMs} = pack;
		const controller = new AbortController();
		return new Promise((resolve, reject) => {
			const end = (reason: unknown): void => {
				reject(reason);
				controller.abort(reason);
			};
			const onAbort = (): void => end(this.#signal.reason);
			this.#signal.addEventListener('abort', onAbort, {once: true});
			const timer = timeoutMs ? setTimeout(() => end(timedOut(name, timeoutMs)), timeoutMs) : undefined;
			const done = (settle: () => void): void => {
				clearTimeout(timer);
				this.#signal.removeEventListener('abort', onAbort);
				settle();
			};
			const called = async (): Promise<unknown> => pack.call(tool, args, controller.signal);
			called().then(
				result => done(() => resolve(result)),
				error => done(() => reject(asProgramError(error))),
			);
		});
	}

	/** A text that is JSON is checked before it is parsed. */
	#checkText(name: string, text: string): void {
		if (text.length > this.limits.maxCallBytes) throw this.#tooLarge(name, Buffer.byteLength(text));
		// A short text can have neither too many values nor be too deep.
		if (text.length <= MAX_NESTING) return;
		const {values, members, depth} = jsonWeight(Buffer.from(text));
		countGarbage(text.length + members * MEMBER_BYTES);
		const maxMembers = membersIn(this.limits.maxCallBytes);
		if (values <= MAX_RESULT_VALUES && members <= maxMembers && depth <= MAX_NESTING) return;
		const what =
			values > MAX_RESULT_VALUES
				? `more than ${MAX_RESULT_VALUES} values. Request less data`
				: members > maxMembers
					? `more than ${maxMembers} members of objects. Request less data, or raise limits.runCall`
					: 'a value that is nested too deeply. Request less data';
		throw new ProgramError('ToolError', `${name} returned ${what}.`);
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
			const hasRoom =
				this.attachments.length < MAX_ATTACHMENTS && this.#attachedLength <= MAX_ATTACHED_LENGTH;
			if (hasRoom) this.attachments.push(part);
		}
	}
}

function asProgramError(error: unknown): ProgramError {
	return error instanceof ProgramError ? error : new ProgramError('ToolError', messageOf(error));
}

function itemError(error: unknown, at: number): ProgramError {
	const {type, message} = asProgramError(error);
	return new ProgramError(type, `item ${at} of the batch: ${message}`);
}

/** Seconds as an error names them. */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)}s`;

const timedOut = (name: string, ms: number): ProgramError =>
	new ProgramError('ToolTimeout', `Tool ${name} timed out after ${seconds(ms)}`);

/** What a local tool gave is data like any other: nothing of this process goes into a program. */
function local(name: string, result: unknown): {value: unknown; attachments: readonly ContentPart[]} {
	try {
		const text = writeExact(result);
		return {value: text === undefined ? null : parseExact(text), attachments: []};
	} catch (error) {
		const [why] = messageOf(error).split('\n');
		throw new ProgramError('ToolError', `${name} gave what cannot be JSON: ${why}`);
	}
}
