import {parse as parseTomlText, TomlDate, TomlError} from 'smol-toml';
import {isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, type YAMLError} from 'yaml';
import type {ConfigIssue, ConfigPath} from './issues.js';
import {
	MAX_CONFIG_DEPTH,
	type ParsedText,
	parseJsonWithComments,
	tooManyValuesText,
} from './json-with-comments.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';
import {findYamlExcess, type YamlExcess} from './yaml-limits.js';

/** The supported file extensions. Each selects a syntax. */
export const fileExtensions = ['.yaml', '.yml', '.json', '.toml'] as const;
export type FileExtension = (typeof fileExtensions)[number];

/** The maximum number of values in a configuration, including lists and tables. */
export const MAX_CONFIG_VALUES = 20_000;

/**
 * Parses a text in the syntax of a file extension into plain JSON values. More than `maxValues` values are
 * reported as an issue.
 */
export function parseConfigText(
	text: string,
	extension: FileExtension,
	maxValues = Number.POSITIVE_INFINITY,
): ParsedText {
	const parsed = parsers[extension](text, maxValues);
	const issues: ConfigIssue[] = [...parsed.issues];
	const value = toPlainValue(parsed.value, [], {issues, values: 0, maxValues});
	return {value, lines: parsed.lines, issues: issues.map(issue => withLine(issue, parsed.lines))};
}

/** The maximum alias count of the YAML library, which stops exponential expansion. */
const MAX_ALIASES = 100;

function parseYaml(text: string, maxValues: number): ParsedText {
	const lineCounter = new LineCounter();
	const lines = new PathMap<number>();
	const excess = findYamlExcess(text, maxValues);
	if (excess) return {value: undefined, lines, issues: [excessIssue(excess, maxValues)]};
	try {
		// The library compares each key with all others of its map. collectLines detects duplicates faster.
		const options = {lineCounter, prettyErrors: false, stringKeys: true, uniqueKeys: false};
		const document = parseDocument(text, options);
		const issues = [...document.errors, ...document.warnings].map(error => yamlIssue(error, lineCounter));
		collectLines(document.contents, [], {lines, issues, lineCounter});
		const value = issues.length > 0 ? undefined : document.toJS({maxAliasCount: MAX_ALIASES});
		return {value, lines, issues};
	} catch (error) {
		if (error instanceof ReferenceError)
			return {
				value: undefined,
				lines,
				issues: [{text: 'Aliases are used too often, or without an anchor.'}],
			};
		if (error instanceof RangeError) return {value: undefined, lines, issues: [{text: TOO_DEEP}]};
		throw error;
	}
}

const excessIssue = ({line, kind}: YamlExcess, maxValues: number): ConfigIssue => ({
	line,
	text: kind === 'nesting' ? TOO_DEEP : tooManyValuesText(maxValues),
});

const yamlIssue = ({message, pos: [at]}: YAMLError, lineCounter: LineCounter): ConfigIssue => {
	const {line, col: column} = lineCounter.linePos(at);
	return {line, column, text: `Invalid YAML: ${message}.`};
};

type LineCollector = {
	readonly lines: PathMap<number>;
	readonly issues: ConfigIssue[];
	readonly lineCounter: LineCounter;
};

/** Records the line of each value and reports duplicate keys. */
function collectLines(node: ParsedNode | null, path: ConfigPath, collector: LineCollector): void {
	const {lines, issues, lineCounter} = collector;
	if (!node || path.length > MAX_CONFIG_DEPTH) return;
	if (!lines.has(path)) lines.set(path, lineCounter.linePos(node.range[0]).line);
	if (isSeq<ParsedNode>(node))
		for (const [index, item] of node.items.entries()) collectLines(item, [...path, index], collector);
	if (!isMap<ParsedNode, ParsedNode | null>(node)) return;
	const names = new Set<string>();
	for (const {key, value} of node.items) {
		const name = String(isScalar(key) ? key.value : key);
		const {line, col: column} = lineCounter.linePos(key.range[0]);
		if (names.has(name)) issues.push({line, column, text: 'Duplicate key.'});
		names.add(name);
		lines.set([...path, name], line);
		collectLines(value, [...path, name], collector);
	}
}

function parseToml(text: string): ParsedText {
	const lines = new PathMap<number>();
	try {
		return {value: parseTomlText(text, {maxDepth: MAX_CONFIG_DEPTH}), lines, issues: []};
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		const {line, column, message} = error;
		const [, reason = message] = /^Invalid TOML document: (.*)/.exec(message) ?? [];
		return {value: undefined, lines, issues: [{line, column, text: `Invalid TOML: ${reason}.`}]};
	}
}

const parsers: {readonly [ending in FileExtension]: (text: string, maxValues: number) => ParsedText} = {
	'.yaml': parseYaml,
	'.yml': parseYaml,
	'.json': parseJsonWithComments,
	'.toml': parseToml,
};

const TOO_DEEP = 'This is nested too deeply.';

type PlainState = {readonly issues: ConfigIssue[]; readonly maxValues: number; values: number};

/**
 * Converts a value to plain JSON values. TOML dates become strings. The key `__proto__` is rejected, since it
 * would change the prototype. Each use of an alias counts towards the limit.
 */
function toPlainValue(value: unknown, path: ConfigPath, state: PlainState): unknown {
	const {issues, maxValues} = state;
	if (++state.values === maxValues + 1)
		issues.push({path: path.slice(0, 3), text: tooManyValuesText(maxValues)});
	if (state.values > maxValues) return null;
	if (value instanceof TomlDate) return value.toISOString();
	if (typeof value !== 'object' || value === null) return value;
	if (path.length > MAX_CONFIG_DEPTH) {
		issues.push({path: path.slice(0, 3), text: TOO_DEEP});
		return null;
	}
	if (Array.isArray(value)) return value.map((item, index) => toPlainValue(item, [...path, index], state));
	const entries = Object.entries(value).filter(([key]) => {
		if (key === '__proto__') issues.push({path: [...path, key], text: 'This key name is not allowed.'});
		return key !== '__proto__';
	});
	return Object.fromEntries(entries.map(([key, item]) => [key, toPlainValue(item, [...path, key], state)]));
}

/** Adds the line of the value at the issue's path, or of its nearest known parent. */
export function withLine(issue: ConfigIssue, lines: ReadonlyPathMap<number>): ConfigIssue {
	if (issue.line !== undefined || issue.path === undefined) return issue;
	for (let {path} = issue; path.length > 0; path = path.slice(0, -1)) {
		const line = lines.get(path);
		if (line !== undefined) return {...issue, line};
	}
	return issue;
}
