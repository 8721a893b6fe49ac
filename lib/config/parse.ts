import {parse as parseTomlText, TomlDate, TomlError} from 'smol-toml';
import {isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, type YAMLError} from 'yaml';
import {MAX_DEPTH, type Parsed, parseJson, tooMany} from './json-with-comments.js';
import type {Mistake, Path} from './mistakes.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';
import {type Excess, excessOf} from './yaml-limits.js';

/** The syntaxes, by the ending of a file's name. */
export const endings = ['.yaml', '.yml', '.json', '.toml'] as const;
export type Ending = (typeof endings)[number];

/** Values of a configuration, lists and tables included: far more than any has. */
export const MAX_VALUES = 20_000;

/**
 * Understands a text in the syntax that its file's name ends with. Values are plain then, whatever the syntax. With more
 * than `maxValues` of them, that is a mistake.
 */
export function parseText(text: string, ending: Ending, maxValues = Number.POSITIVE_INFINITY): Parsed {
	const parsed = parsers[ending](text, maxValues);
	const found: Mistake[] = [...parsed.mistakes];
	const value = plain(parsed.value, [], {mistakes: found, values: 0, maxValues});
	return {value, lines: parsed.lines, mistakes: found.map(mistake => withLine(mistake, parsed.lines))};
}

/** How often a text may be repeated by YAML's aliases. */
const MAX_ALIASES = 100;

function parseYaml(text: string, maxValues: number): Parsed {
	const lineCounter = new LineCounter();
	const lines = new PathMap<number>();
	const excess = excessOf(text, maxValues);
	if (excess) return {value: undefined, lines, mistakes: [excessMistake(excess, maxValues)]};
	try {
		// The parser would compare each key with all others of its map: noteLines looks for equal ones.
		const options = {lineCounter, prettyErrors: false, stringKeys: true, uniqueKeys: false};
		const document = parseDocument(text, options);
		const mistakes = [...document.errors, ...document.warnings].map(error => yamlMistake(error, lineCounter));
		noteLines(document.contents, [], {lines, mistakes, lineCounter});
		const value = mistakes.length > 0 ? undefined : document.toJS({maxAliasCount: MAX_ALIASES});
		return {value, lines, mistakes};
	} catch (error) {
		if (error instanceof ReferenceError)
			return {
				value: undefined,
				lines,
				mistakes: [{text: 'Aliases are used too often, or without an anchor.'}],
			};
		if (error instanceof RangeError) return {value: undefined, lines, mistakes: [{text: TOO_DEEP}]};
		throw error;
	}
}

const excessMistake = ({line, kind}: Excess, maxValues: number): Mistake => ({
	line,
	text: kind === 'nesting' ? TOO_DEEP : tooMany(maxValues),
});

const yamlMistake = ({message, pos: [at]}: YAMLError, lineCounter: LineCounter): Mistake => {
	const {line, col: column} = lineCounter.linePos(at);
	return {line, column, text: `This is not YAML: ${message}.`};
};

type Noted = {
	readonly lines: PathMap<number>;
	readonly mistakes: Mistake[];
	readonly lineCounter: LineCounter;
};

/** Notes the line of each value, and keys that stand twice in their map. */
function noteLines(node: ParsedNode | null, path: Path, noted: Noted): void {
	const {lines, mistakes, lineCounter} = noted;
	if (!node || path.length > MAX_DEPTH) return;
	if (!lines.has(path)) lines.set(path, lineCounter.linePos(node.range[0]).line);
	if (isSeq<ParsedNode>(node))
		for (const [index, item] of node.items.entries()) noteLines(item, [...path, index], noted);
	if (!isMap<ParsedNode, ParsedNode | null>(node)) return;
	const names = new Set<string>();
	for (const {key, value} of node.items) {
		const name = String(isScalar(key) ? key.value : key);
		const {line, col: column} = lineCounter.linePos(key.range[0]);
		if (names.has(name)) mistakes.push({line, column, text: 'This key stands here twice.'});
		names.add(name);
		lines.set([...path, name], line);
		noteLines(value, [...path, name], noted);
	}
}

function parseToml(text: string): Parsed {
	const lines = new PathMap<number>();
	try {
		return {value: parseTomlText(text, {maxDepth: MAX_DEPTH}), lines, mistakes: []};
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		const {line, column, message} = error;
		const [, reason = message] = /^Invalid TOML document: (.*)/.exec(message) ?? [];
		return {value: undefined, lines, mistakes: [{line, column, text: `This is no TOML: ${reason}.`}]};
	}
}

const parsers: {readonly [ending in Ending]: (text: string, maxValues: number) => Parsed} = {
	'.yaml': parseYaml,
	'.yml': parseYaml,
	'.json': parseJson,
	'.toml': parseToml,
};

const TOO_DEEP = 'This is nested too deeply.';

type Found = {readonly mistakes: Mistake[]; readonly maxValues: number; values: number};

/**
 * Converts a value to plain JSON values. A date of TOML becomes its text. A key `__proto__` is rejected, since JavaScript
 * would change the prototype. Each use of an alias is counted.
 */
function plain(value: unknown, path: Path, found: Found): unknown {
	const {mistakes, maxValues} = found;
	if (++found.values === maxValues + 1) mistakes.push({path: path.slice(0, 3), text: tooMany(maxValues)});
	if (found.values > maxValues) return null;
	if (value instanceof TomlDate) return value.toISOString();
	if (typeof value !== 'object' || value === null) return value;
	if (path.length > MAX_DEPTH) {
		mistakes.push({path: path.slice(0, 3), text: TOO_DEEP});
		return null;
	}
	if (Array.isArray(value)) return value.map((item, index) => plain(item, [...path, index], found));
	const entries = Object.entries(value).filter(([key]) => {
		if (key === '__proto__') mistakes.push({path: [...path, key], text: 'No key may have this name.'});
		return key !== '__proto__';
	});
	return Object.fromEntries(entries.map(([key, item]) => [key, plain(item, [...path, key], found)]));
}

/** A mistake with the line that its path, or what that is in, begins in. */
export function withLine(mistake: Mistake, lines: ReadonlyPathMap<number>): Mistake {
	if (mistake.line !== undefined || mistake.path === undefined) return mistake;
	for (let {path} = mistake; path.length > 0; path = path.slice(0, -1)) {
		const line = lines.get(path);
		if (line !== undefined) return {...mistake, line};
	}
	return mistake;
}
