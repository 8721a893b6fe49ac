import {asObject} from './input-schema.js';
import {isPythonBuiltIn, isValueMethod} from './python-builtins.js';
import {isPythonName} from './python-identifiers.js';
import {parseNumberLiteral, parseStringLiteral} from './python-literals.js';

export type CallExpression = {
	readonly kind: 'call';
	readonly pack: string;
	/** The tool name, with the dots from the source. */
	readonly tool: string;
	/** `pack.tool.batch(…)`. */
	readonly isBatch: boolean;
	readonly positional: readonly Expression[];
	readonly named: ReadonlyArray<readonly [string, Expression]>;
	readonly line: number;
};

/** An expression that the host can evaluate, apart from its calls, without an interpreter. */
export type Expression =
	| {readonly kind: 'literal'; readonly value: unknown}
	| {readonly kind: 'list'; readonly items: readonly Expression[]}
	| {readonly kind: 'dict'; readonly entries: ReadonlyArray<readonly [string, Expression]>}
	| {readonly kind: 'name'; readonly name: string; readonly line: number}
	| {readonly kind: 'item'; readonly of: Expression; readonly key: string | number; readonly line: number}
	| {readonly kind: 'field'; readonly of: Expression; readonly name: string; readonly line: number}
	| CallExpression;

/** One statement: an expression and the variables that it is assigned to. */
export type Statement = {readonly names: readonly string[]; readonly value: Expression};

type AstNode = {readonly [key: string]: unknown};

/** Deeper programs run in the interpreter, since planning is recursive. */
const MAX_NESTING = 100;

/** Thrown from any depth of the tree for an unsupported node, and caught in this file. */
class NotPlainError extends Error {}

/**
 * Plans a program that consists only of pack calls, literals, names and accesses to results. Returns
 * `undefined` for all other programs, which run in the interpreter. The parser accepts some programs that
 * Python rejects and does not distinguish all literals. Ambiguous programs are therefore not plain.
 */
export function planProgram(
	source: string,
	body: unknown,
	packNames: ReadonlySet<string>,
): Statement[] | undefined {
	try {
		return new Planner(source, packNames).planStatements(body);
	} catch (error) {
		// A RangeError is a stack overflow. The interpreter decides whether such a deep program is valid.
		if (error instanceof NotPlainError || error instanceof RangeError) return;
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

	planStatements(body: unknown): Statement[] {
		return astNodes(body).map(statement => this.#planStatement(statement));
	}

	#planStatement(statement: AstNode): Statement {
		if (statement.nodeType === 'Expr') return {names: [], value: this.#planExpression(statement.value)};
		if (statement.nodeType !== 'Assign') throw new NotPlainError();
		const value = this.#planExpression(statement.value);
		const names = astNodes(statement.targets).map(target => {
			const name = target.nodeType === 'Name' ? String(target.id) : '';
			if (!isPythonName(name) || isPythonBuiltIn(name) || this.#packNames.has(name))
				throw new NotPlainError();
			this.#assigned.add(name);
			return name;
		});
		return {names, value};
	}

	#planExpression(node: unknown): Expression {
		if (++this.#depth > MAX_NESTING) throw new NotPlainError();
		const planned = this.#planNode(asObject(node));
		this.#depth--;
		return planned;
	}

	#planNode(tree: AstNode): Expression {
		switch (tree.nodeType) {
			case 'Constant':
			case 'UnaryOp':
				return {kind: 'literal', value: this.#parseLiteral(tree)};
			case 'List':
				return {kind: 'list', items: astNodes(tree.elts).map(item => this.#planExpression(item))};
			case 'Dict':
				return {kind: 'dict', entries: this.#planEntries(tree)};
			case 'Name':
				return {kind: 'name', name: this.#checkedName(tree), line: lineOf(tree)};
			case 'Subscript':
				return {
					kind: 'item',
					of: this.#planExpression(tree.value),
					key: this.#parseKey(tree.slice),
					line: lineOf(tree),
				};
			case 'Attribute':
				return this.#planField(tree);
			case 'Await':
				return this.#planAwaited(asObject(tree.value));
			case 'Call':
				return this.#planCall(tree);
			default:
				throw new NotPlainError();
		}
	}

	/**
	 * Calls return data, and the interpreter also accepts `await` on data. The tree has no parentheses, which
	 * change the meaning for some operands.
	 */
	#planAwaited(tree: AstNode): Expression {
		if (tree.nodeType === 'UnaryOp' || tree.nodeType === 'Await') throw new NotPlainError();
		return this.#planExpression(tree);
	}

	#parseLiteral(tree: AstNode): unknown {
		if (tree.nodeType === 'UnaryOp') {
			const value =
				asObject(tree.op).nodeType === 'USub' ? this.#parseLiteral(asObject(tree.operand)) : undefined;
			if (typeof value !== 'number' || value <= 0) throw new NotPlainError();
			return -value;
		}
		const {value} = tree;
		if (value === null || typeof value === 'boolean') return value;
		const literalSource = this.#sourceText(tree);
		const literal =
			typeof value === 'string' ? parseStringLiteral(literalSource) : parseNumberLiteral(literalSource);
		if (literal === undefined || literal !== value) throw new NotPlainError();
		return literal;
	}

	/**
	 * The source text of a literal. Empty or wrong if the offsets are wrong, so the literal does not match
	 * and is not plain.
	 */
	#sourceText({lineno, col_offset: start, end_lineno: endLine, end_col_offset: end}: AstNode): string {
		const [from, to] = [Number(lineno) - 1, Number(endLine) - 1];
		const lines = this.#lines.slice(from, to + 1);
		const last = lines.length - 1;
		return lines
			.map((line, at) => line.slice(at === 0 ? Number(start) : 0, at === last ? Number(end) : undefined))
			.join('\n');
	}

	/** Rejects numeric keys, since JavaScript objects would reorder them. */
	#planEntries({keys, values}: AstNode): Array<readonly [string, Expression]> {
		const items = astNodes(values);
		return astNodes(keys).map((key, at) => {
			const name = key.nodeType === 'Constant' ? this.#parseLiteral(key) : undefined;
			if (typeof name !== 'string' || /^\d|^__proto__$/.test(name)) throw new NotPlainError();
			return [name, this.#planExpression(items[at])];
		});
	}

	#parseKey(slice: unknown): string | number {
		const tree = asObject(slice);
		const key =
			tree.nodeType === 'Constant' || tree.nodeType === 'UnaryOp' ? this.#parseLiteral(tree) : undefined;
		if (typeof key === 'string' || (typeof key === 'number' && Number.isInteger(key))) return key;
		throw new NotPlainError();
	}

	#checkedName({id}: AstNode): string {
		const name = String(id);
		if (!isPythonName(name) || !this.#assigned.has(name)) throw new NotPlainError();
		return name;
	}

	#planField(tree: AstNode): Expression {
		const name = String(tree.attr);
		if (!isPythonName(name) || isValueMethod(name)) throw new NotPlainError();
		return {kind: 'field', of: this.#planExpression(tree.value), name, line: attributeLineOf(tree)};
	}

	/**
	 * Plans a call of `pack.tool`. The pack need not exist, as long as the name cannot mean anything else in
	 * Python.
	 */
	#planCall(tree: AstNode): CallExpression {
		const [pack = '', ...path] = pathOf(tree.func);
		const isBatch = path.length > 1 && path.at(-1) === 'batch';
		const tool = (isBatch ? path.slice(0, -1) : path).join('.');
		const isOtherName = !isPythonName(pack) || this.#assigned.has(pack) || isPythonBuiltIn(pack);
		if (tool === '' || (isOtherName && !this.#packNames.has(pack))) throw new NotPlainError();
		const named = astNodes(tree.keywords).map(({arg, value}) => {
			if (typeof arg !== 'string' || !isPythonName(arg)) throw new NotPlainError();
			return [arg, this.#planExpression(value)] as const;
		});
		if (new Set(named.map(([name]) => name)).size < named.length) throw new NotPlainError();
		const positional = astNodes(tree.args).map(argument => this.#planExpression(argument));
		return {kind: 'call', pack, tool, isBatch, positional, named, line: attributeLineOf(asObject(tree.func))};
	}
}

const astNodes = (nodes: unknown): AstNode[] => (Array.isArray(nodes) ? nodes.map(asObject) : []);

const lineOf = (tree: AstNode): number => Number(tree.lineno);

/** Python reports an error of an attribute or a method at the line of its name, where the expression ends. */
const attributeLineOf = (tree: AstNode): number => Number(tree.end_lineno);

/** Returns the names in `a.b.c`, or an empty list for any other expression. */
function pathOf(node: unknown): string[] {
	const path: string[] = [];
	for (let tree = asObject(node); path.length < MAX_NESTING; tree = asObject(tree.value)) {
		const {nodeType, id, attr} = tree;
		if (nodeType === 'Name') return [String(id), ...path.reverse()];
		if (nodeType !== 'Attribute' || typeof attr !== 'string' || !isPythonName(attr) || attr.startsWith('__'))
			break;
		path.push(attr);
	}
	return [];
}
