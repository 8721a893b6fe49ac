import {performance} from 'node:perf_hooks';
import {setImmediate} from 'node:timers/promises';
import {type CallExpression, type Expression, planProgram, type Statement} from './plain-plan.js';
import {ProgramError, RunEndedError} from './program-error.js';
import {getField, getItem} from './result-access.js';
import {ResultBudget} from './result-budget.js';
import type {RunCalls} from './run-calls.js';
import {checkInteger, checkValue, MAX_CALL_VALUES} from './value-limits.js';

/** The result of a program. A program that ends with a statement has no value. */
type ProgramValue = {readonly hasValue: boolean; readonly value: unknown};

/** A program that runs without an interpreter. */
export type PlainProgram = (calls: RunCalls) => Promise<ProgramValue>;

/**
 * The parser runs on the main thread, at about 1 MB/s. Longer programs, in characters, run in the
 * interpreter. So do programs with many braces, since the parser parses each part of an f-string separately.
 */
const MAX_LENGTH = 32_768;
const MAX_BRACES = 1000;
/** The memory limit for results on the main thread, in units of the largest result. */
const MAX_RETAINED_RESULTS = 8;
/** The longest time on the main thread before other work gets a turn. */
const YIELD_INTERVAL_MS = 10;

/**
 * Compiles a program that consists only of pack calls. Returns `undefined` for all other programs. The
 * decision precedes the first call, since calls cannot be undone.
 */
export async function compilePlainProgram(
	source: string,
	packNames: ReadonlySet<string>,
): Promise<PlainProgram | undefined> {
	if (source.length > MAX_LENGTH || source.split('{', MAX_BRACES + 2).length > MAX_BRACES + 1) return;
	// The parser may be wrong about these characters, which are rare in plain programs.
	if (/[\0\f\v]|\p{Surrogate}/u.test(source)) return;
	const {parse} = await import('py-ast');
	let body: unknown;
	try {
		({body} = parse(source));
	} catch {
		// Python reports the syntax error.
		return;
	}
	const plan = planProgram(source, body, packNames);
	return plan && (calls => evaluate(plan, calls));
}

async function evaluate(plan: readonly Statement[], calls: RunCalls): Promise<ProgramValue> {
	const evaluator = new Evaluator(calls);
	let last: unknown;
	for (const {names, value} of plan) {
		last = await evaluator.evaluate(value);
		for (const name of names) evaluator.variables.set(name, last);
	}
	const end = plan.at(-1);
	if (!end) return {hasValue: false, value: undefined};
	if (end.names.length === 0) return {hasValue: true, value: last};
	return {hasValue: true, value: combineResults(resultNames(plan), evaluator.variables)};
}

/**
 * The variables that received the result of a call or of the last statement, in order of first assignment.
 */
function resultNames(plan: readonly Statement[]): string[] {
	const last = plan.length - 1;
	const chosen = plan.filter(({value}, at) => value.kind === 'call' || at === last);
	return [...new Set(chosen.flatMap(({names}) => names))];
}

/** Returns one result as itself, several as an object. */
function combineResults(names: readonly string[], values: ReadonlyMap<string, unknown>): unknown {
	const [first = ''] = names;
	if (names.length === 1) return values.get(first);
	return Object.fromEntries(names.map(name => [name, values.get(name)]));
}

class Evaluator {
	readonly variables = new Map<string, unknown>();
	readonly #calls: RunCalls;
	/** Dicts written as literals. In Python, their fields are available as items only. */
	readonly #dicts = new WeakSet<object>();
	readonly #budgets: readonly ResultBudget[];
	#yieldedAt = performance.now();

	constructor(calls: RunCalls) {
		this.#calls = calls;
		this.#budgets = [new ResultBudget(MAX_RETAINED_RESULTS * calls.limits.maxCallBytes, 'this program')];
	}

	async evaluate(expression: Expression): Promise<unknown> {
		if (performance.now() - this.#yieldedAt > YIELD_INTERVAL_MS) await this.#yieldToEventLoop();
		switch (expression.kind) {
			case 'literal':
				return expression.value;
			case 'list':
				return this.#evaluateAll(expression.items);
			case 'dict':
				return this.#trackDict(Object.fromEntries(await this.#evaluateEntries(expression.entries)));
			case 'name':
				return this.variables.get(expression.name);
			case 'item':
				return getItem(await this.evaluate(expression.of), expression.key, expression.line);
			case 'field':
				return this.#getField(await this.evaluate(expression.of), expression.name, expression.line);
			case 'call':
				return this.#call(expression);
		}
	}

	/** Yields to the event loop. Its timers may end the run. */
	async #yieldToEventLoop(): Promise<void> {
		await setImmediate();
		this.#calls.throwIfEnded();
		this.#yieldedAt = performance.now();
	}

	#trackDict(value: object): object {
		this.#dicts.add(value);
		return value;
	}

	#getField(value: unknown, name: string, line: number): unknown {
		return getField(value, name, line, typeof value === 'object' && value !== null && this.#dicts.has(value));
	}

	async #evaluateAll(expressions: readonly Expression[]): Promise<unknown[]> {
		const values: unknown[] = [];
		for (const expression of expressions) values.push(await this.evaluate(expression));
		return values;
	}

	async #evaluateEntries(
		entries: ReadonlyArray<readonly [string, Expression]>,
	): Promise<Array<readonly [string, unknown]>> {
		const values = await this.#evaluateAll(entries.map(([, value]) => value));
		return entries.map(([name], at) => [name, values[at]]);
	}

	async #call({pack, tool, isBatch, positional, named, line}: CallExpression): Promise<unknown> {
		try {
			this.#calls.checkPack(pack);
			const callArguments = {
				positional: await this.#evaluateAll(positional),
				named: await this.#evaluateEntries(named),
			};
			const {maxCallBytes: maxBytes} = this.#calls.limits;
			const limits = {maxBytes, maxValues: MAX_CALL_VALUES, checkNumber: checkInteger};
			checkValue(callArguments, limits, 'A call of the program');
			if (isBatch) return await this.#calls.batch({pack, tool, ...callArguments}, this.#budgets);
			return await this.#calls.call({pack, tool, ...callArguments}, this.#budgets);
		} catch (error) {
			if (!(error instanceof ProgramError) || error instanceof RunEndedError) throw error;
			throw new ProgramError(error.type, error.message, error.line ?? line);
		}
	}
}
