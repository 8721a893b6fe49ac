import {isName} from './names.js';
import {isPythonBuiltIn, isValueMethod} from './python-names.js';
import {members} from './schema.js';
import {numberIn, textIn} from './source-literals.js';

/** A call of a pack's tool. */
export type CallExpression = {
	readonly kind: 'call';
	readonly pack: string;
	/** The tool, with dots where the program has them. */
	readonly tool: string;
	/** `pack.tool.batch(…)`. */
	readonly isBatch: boolean;
	readonly positional: readonly Expression[];
	readonly named: ReadonlyArray<readonly [string, Expression]>;
	readonly line: number;
};

/** An expression of which the value is known once the calls in it are made. */
export type Expression =
	| {readonly kind: 'literal'; readonly value: unknown}
	| {readonly kind: 'list'; readonly items: readonly Expression[]}
	| {readonly kind: 'dict'; readonly entries: ReadonlyArray<readonly [string, Expression]>}
	| {readonly kind: 'name'; readonly name: string; readonly line: number}
	| {readonly kind: 'item'; readonly of: Expression; readonly key: string | number; readonly line: number}
	| {readonly kind: 'field'; readonly of: Expression; readonly name: string; readonly line: number}
	| CallExpression;

/** One statement: an expression, and the names that get its value. */
export type Statement = {readonly names: readonly string[]; readonly value: Expression};

type Tree = {readonly [key: string]: unknown};

/** Deeper programs are left to the interpreter: this recurses. */
const MAX_NESTING = 100;

/** Thrown for what is not plain, and caught in this file: from deep within a tree that is the shortest way out. */
class NotPlain extends Error {}

/**
 * What a program does, when it is nothing but calls of packs, literals, names and ways into results; `undefined` for
 * all else, which is the interpreter's. The parser takes some programs for valid that Python does not, and
 * does not tell all literals apart: what could be one of these is not plain.
 */
export function planOf(
	source: string,
	body: unknown,
	packNames: ReadonlySet<string>,
): Statement[] | undefined {
	try {
		return new Planner(source, packNames).statements(body);
	} catch (error) {
		// The stack was too small for it: how deep a program may be is for Python to decide.
		if (error instanceof NotPlain || error instanceof RangeError) return;
		throw error;
	}
}

class Planner {
	readonly #lines: readonly string[];
	readonly #packNames: ReadonlySet<string>;
	readonly #assigned = new Set<string>();
	#depth = 0;

	constructor(source: string, packNames: ReadonlySet<string>) {
		this.#lines = source.split('\n');
		this.#packNames = packNames;
	}

	statements(body: unknown): Statement[] {
		return trees(body).map(statement => this.#statement(statement));
	}

	#statement(statement: Tree): Statement {
		if (statement.nodeType === 'Expr') return {names: [], value: this.#expression(statement.value)};
		if (statement.nodeType !== 'Assign') throw new NotPlain();
		const value = this.#expression(statement.value);
		const names = trees(statement.targets).map(target => {
			const name = target.nodeType === 'Name' ? String(target.id) : '';
			if (!isName(name) || isPythonBuiltIn(name) || this.#packNames.has(name)) throw new NotPlain();
			this.#assigned.add(name);
			return name;
		});
		return {names, value};
	}

	#expression(node: unknown): Expression {
		if (++this.#depth > MAX_NESTING) throw new NotPlain();
		const planned = this.#planned(members(node));
		this.#depth--;
		return planned;
	}

	#planned(tree: Tree): Expression {
		switch (tree.nodeType) {
			case 'Constant':
			case 'UnaryOp':
				return {kind: 'literal', value: this.#literal(tree)};
			case 'List':
				return {kind: 'list', items: trees(tree.elts).map(item => this.#expression(item))};
			case 'Dict':
				return {kind: 'dict', entries: this.#entries(tree)};
			case 'Name':
				return {kind: 'name', name: this.#name(tree), line: lineOf(tree)};
			case 'Subscript':
				return {
					kind: 'item',
					of: this.#expression(tree.value),
					key: this.#key(tree.slice),
					line: lineOf(tree),
				};
			case 'Attribute':
				return this.#field(tree);
			case 'Await':
				return this.#awaited(members(tree.value));
			case 'Call':
				return this.#call(tree);
			default:
				throw new NotPlain();
		}
	}

	/** Calls return data, which the interpreter lets a program await, too. Parentheses are not in the tree, and decide for some operands. */
	#awaited(tree: Tree): Expression {
		if (tree.nodeType === 'UnaryOp' || tree.nodeType === 'Await') throw new NotPlain();
		return this.#expression(tree);
	}

	#literal(tree: Tree): unknown {
		if (tree.nodeType === 'UnaryOp') {
			const value = members(tree.op).nodeType === 'USub' ? this.#literal(members(tree.operand)) : undefined;
			if (typeof value !== 'number' || value <= 0) throw new NotPlain();
			return -value;
		}
		const {value} = tree;
		if (value === null || typeof value === 'boolean') return value;
		const written = this.#written(tree);
		const literal = typeof value === 'string' ? textIn(written) : numberIn(written);
		if (literal === undefined || literal !== value) throw new NotPlain();
		return literal;
	}

	/** The text of a literal. Where the offsets are not what they seem, it is none, and the literal not plain. */
	#written({lineno, col_offset: start, end_lineno: endLine, end_col_offset: end}: Tree): string {
		const [from, to] = [Number(lineno) - 1, Number(endLine) - 1];
		const lines = this.#lines.slice(from, to + 1);
		const last = lines.length - 1;
		return lines
			.map((line, at) => line.slice(at === 0 ? Number(start) : 0, at === last ? Number(end) : undefined))
			.join('\n');
	}

	/** Keys that are numbers would change their places in JavaScript. */
	#entries({keys, values}: Tree): Array<readonly [string, Expression]> {
		const items = trees(values);
		return trees(keys).map((key, at) => {
			const name = key.nodeType === 'Constant' ? this.#literal(key) : undefined;
			if (typeof name !== 'string' || /^\d|^__proto__$/.test(name)) throw new NotPlain();
			return [name, this.#expression(items[at])];
		});
	}

	#key(slice: unknown): string | number {
		const tree = members(slice);
		const key = tree.nodeType === 'Constant' || tree.nodeType === 'UnaryOp' ? this.#literal(tree) : undefined;
		if (typeof key === 'string' || (typeof key === 'number' && Number.isInteger(key))) return key;
		throw new NotPlain();
	}

	#name({id}: Tree): string {
		const name = String(id);
		if (!isName(name) || !this.#assigned.has(name)) throw new NotPlain();
		return name;
	}

	#field(tree: Tree): Expression {
		const name = String(tree.attr);
		if (!isName(name) || isValueMethod(name)) throw new NotPlain();
		return {kind: 'field', of: this.#expression(tree.value), name, line: attributeLineOf(tree)};
	}

	/** A call of `pack.tool`, be there such a pack or not, as long as the name cannot mean anything else. */
	#call(tree: Tree): CallExpression {
		const [pack = '', ...path] = pathOf(tree.func);
		const isBatch = path.length > 1 && path.at(-1) === 'batch';
		const tool = (isBatch ? path.slice(0, -1) : path).join('.');
		const isForeign = !isName(pack) || this.#assigned.has(pack) || isPythonBuiltIn(pack);
		if (tool === '' || (isForeign && !this.#packNames.has(pack))) throw new NotPlain();
		const named = trees(tree.keywords).map(({arg, value}) => {
			if (typeof arg !== 'string' || !isName(arg)) throw new NotPlain();
			return [arg, this.#expression(value)] as const;
		});
		if (new Set(named.map(([name]) => name)).size < named.length) throw new NotPlain();
		const positional = trees(tree.args).map(argument => this.#expression(argument));
		return {kind: 'call', pack, tool, isBatch, positional, named, line: attributeLineOf(members(tree.func))};
	}
}

const trees = (nodes: unknown): Tree[] => (Array.isArray(nodes) ? nodes.map(members) : []);

const lineOf = (tree: Tree): number => Number(tree.lineno);

/** Python reports an error of an attribute or a method at the line of its name, where the expression ends. */
const attributeLineOf = (tree: Tree): number => Number(tree.end_lineno);

/** `a.b.c` as names, and nothing of all else. */
function pathOf(node: unknown): string[] {
	const path: string[] = [];
	for (let tree = members(node); path.length < MAX_NESTING; tree = members(tree.value)) {
		const {nodeType, id, attr} = tree;
		if (nodeType === 'Name') return [String(id), ...path.reverse()];
		if (nodeType !== 'Attribute' || typeof attr !== 'string' || !isName(attr) || attr.startsWith('__')) break;
		path.push(attr);
	}
	return [];
}
