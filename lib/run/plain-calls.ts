import {field, item} from './access.js';
import type {Given} from './arguments.js';
import type {Calls} from './calls.js';
import {type CallExpression, type Expression, planOf, type Statement} from './plain-plan.js';
import {ProgramError, RunOver} from './program-error.js';
import {members} from './schema.js';

/** What a program came to. Without a value when it ends with a statement that has none. */
export type ProgramValue = {readonly hasValue: boolean; readonly value: unknown};

/** A program that needs no interpreter. */
export type PlainProgram = (calls: Calls) => Promise<ProgramValue>;

/** The program, when it is nothing but calls of packs. Decided before the first call, since calls cannot be undone. */
export async function plainProgram(
	source: string,
	packNames: ReadonlySet<string>,
): Promise<PlainProgram | undefined> {
	// A program with one of these is hardly plain, and the parser need not be right about it.
	if (/[\0\f\v]|\p{Surrogate}/u.test(source)) return;
	const {parse} = await import('py-ast');
	let body: unknown;
	try {
		({body} = parse(source));
	} catch {
		// What is wrong with it is for Python to say.
		return;
	}
	const plan = planOf(source, body, packNames);
	return plan && (calls => evaluate(plan, calls));
}

async function evaluate(plan: readonly Statement[], calls: Calls): Promise<ProgramValue> {
	const evaluator = new Evaluator(calls);
	let last: unknown;
	for (const {names, value} of plan) {
		last = await evaluator.value(value);
		for (const name of names) evaluator.names.set(name, last);
	}
	const end = plan.at(-1);
	if (!end) return {hasValue: false, value: undefined};
	if (end.names.length === 0) return {hasValue: true, value: last};
	return {hasValue: true, value: combined(resultNames(plan), evaluator.names)};
}

/** Names that got what a call gave, and those that the program ends with, in the order in which they came up. */
function resultNames(plan: readonly Statement[]): string[] {
	const last = plan.length - 1;
	const chosen = plan.filter(({value}, at) => value.kind === 'call' || at === last);
	return [...new Set(chosen.flatMap(({names}) => names))];
}

/** One result as itself, several as an object. */
function combined(names: readonly string[], values: ReadonlyMap<string, unknown>): unknown {
	const [first = ''] = names;
	if (names.length === 1) return values.get(first);
	return Object.fromEntries(names.map(name => [name, values.get(name)]));
}

class Evaluator {
	readonly names = new Map<string, unknown>();
	readonly #calls: Calls;
	/** What the program itself wrote as a dict, whose fields are items only, as everywhere in Python. */
	readonly #dicts = new WeakSet<object>();

	constructor(calls: Calls) {
		this.#calls = calls;
	}

	async value(expression: Expression): Promise<unknown> {
		switch (expression.kind) {
			case 'literal':
				return expression.value;
			case 'list':
				return this.#values(expression.items);
			case 'dict':
				return this.#dict(Object.fromEntries(await this.#entries(expression.entries)));
			case 'name':
				return this.names.get(expression.name);
			case 'item':
				return item(await this.value(expression.of), expression.key, expression.line);
			case 'field':
				return this.#field(await this.value(expression.of), expression.name, expression.line);
			case 'call':
				return this.#call(expression);
		}
	}

	#dict(value: object): object {
		this.#dicts.add(value);
		return value;
	}

	#field(value: unknown, name: string, line: number): unknown {
		return field(value, name, line, typeof value === 'object' && value !== null && this.#dicts.has(value));
	}

	async #values(expressions: readonly Expression[]): Promise<unknown[]> {
		const values: unknown[] = [];
		for (const expression of expressions) values.push(await this.value(expression));
		return values;
	}

	async #entries(
		entries: ReadonlyArray<readonly [string, Expression]>,
	): Promise<Array<readonly [string, unknown]>> {
		const values = await this.#values(entries.map(([, value]) => value));
		return entries.map(([name], at) => [name, values[at]]);
	}

	async #call({pack, tool, isBatch, positional, named, line}: CallExpression): Promise<unknown> {
		try {
			this.#calls.checkPack(pack);
			const given = {positional: await this.#values(positional), named: await this.#entries(named)};
			if (isBatch) return await this.#calls.batch({pack, tool, ...batchOf(given)});
			return await this.#calls.call({pack, tool, ...given});
		} catch (error) {
			if (!(error instanceof ProgramError) || error instanceof RunOver) throw error;
			throw new ProgramError(error.type, error.message, error.line ?? line);
		}
	}
}

/** What `.batch(…)` was given, as calls. */
export function batchOf({positional, named}: Given): {items: Given[]; returnErrors: boolean} {
	const options = new Map(named);
	const items = positional.length > 0 ? positional[0] : options.get('items');
	const returnErrors = positional.length > 1 ? positional[1] : options.get('return_errors');
	const unknown = named.find(([name]) => name !== 'items' && name !== 'return_errors');
	if (!Array.isArray(items) || positional.length > 2 || unknown) {
		throw new ProgramError('TypeError', 'batch() takes a list, with the arguments of one call in each item');
	}
	return {items: items.map(oneCall), returnErrors: Boolean(returnErrors)};
}

function oneCall(item: unknown): Given {
	const isObject = typeof item === 'object' && item !== null && !Array.isArray(item);
	return isObject ? {positional: [], named: Object.entries(members(item))} : {positional: [item], named: []};
}
