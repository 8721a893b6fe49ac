import {parse as parseTomlText, TomlDate, TomlError} from 'smol-toml';
import {isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, type YAMLError} from 'yaml';
import {MAX_DEPTH, type Parsed, parseJson} from './json-with-comments.js';
import {type Mistake, type Path, pathKey} from './mistakes.js';

/** The syntaxes, by the ending of a file's name. */
export const endings = ['.yaml', '.yml', '.json', '.toml'] as const;
export type Ending = (typeof endings)[number];

/** Understands a text in the syntax that its file's name ends with. Values are plain then, whatever the syntax. */
export function parseText(text: string, ending: Ending): Parsed {
	const parsed = parsers[ending](text);
	const found: Mistake[] = [...parsed.mistakes];
	const value = plain(parsed.value, [], found);
	return {value, lines: parsed.lines, mistakes: found.map(mistake => withLine(mistake, parsed.lines))};
}

/** How often a text may be repeated by YAML's aliases. */
const MAX_ALIASES = 100;

function parseYaml(text: string): Parsed {
	const lineCounter = new LineCounter();
	const lines = new Map<string, number>();
	try {
		const document = parseDocument(text, {lineCounter, prettyErrors: false, stringKeys: true});
		noteLines(document.contents, [], lines, offset => lineCounter.linePos(offset).line);
		const mistakes = [...document.errors, ...document.warnings].map(error => yamlMistake(error, lineCounter));
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

const yamlMistake = ({code, message, pos: [at]}: YAMLError, lineCounter: LineCounter): Mistake => {
	const {line, col: column} = lineCounter.linePos(at);
	const text = code === 'DUPLICATE_KEY' ? 'This key stands here twice.' : `This is no YAML: ${message}.`;
	return {line, column, text};
};

function noteLines(
	node: ParsedNode | null,
	path: Path,
	lines: Map<string, number>,
	lineAt: (offset: number) => number,
): void {
	if (!node || path.length > MAX_DEPTH) return;
	if (!lines.has(pathKey(path))) lines.set(pathKey(path), lineAt(node.range[0]));
	if (isSeq<ParsedNode>(node))
		for (const [index, item] of node.items.entries()) noteLines(item, [...path, index], lines, lineAt);
	if (!isMap<ParsedNode, ParsedNode | null>(node)) return;
	for (const {key, value} of node.items) {
		const here = [...path, String(isScalar(key) ? key.value : key)];
		lines.set(pathKey(here), lineAt(key.range[0]));
		noteLines(value, here, lines, lineAt);
	}
}

function parseToml(text: string): Parsed {
	const lines = new Map<string, number>();
	try {
		return {value: parseTomlText(text, {maxDepth: MAX_DEPTH}), lines, mistakes: []};
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		const {line, column, message} = error;
		const [, reason = message] = /^Invalid TOML document: (.*)/.exec(message) ?? [];
		return {value: undefined, lines, mistakes: [{line, column, text: `This is no TOML: ${reason}.`}]};
	}
}

const parsers: {readonly [ending in Ending]: (text: string) => Parsed} = {
	'.yaml': parseYaml,
	'.yml': parseYaml,
	'.json': parseJson,
	'.toml': parseToml,
};

const TOO_DEEP = 'This is nested too deeply.';

/**
 * What JSON can hold. TOML has dates, which here are only ever meant as the text of them; a key `__proto__` would mean
 * something else to JavaScript than to whoever wrote it.
 */
function plain(value: unknown, path: Path, mistakes: Mistake[]): unknown {
	if (value instanceof TomlDate) return value.toISOString();
	if (typeof value !== 'object' || value === null) return value;
	if (path.length > MAX_DEPTH) {
		mistakes.push({path: path.slice(0, 3), text: TOO_DEEP});
		return null;
	}
	if (Array.isArray(value)) return value.map((item, index) => plain(item, [...path, index], mistakes));
	const entries = Object.entries(value).filter(([key]) => {
		if (key === '__proto__') mistakes.push({path: [...path, key], text: 'No key may have this name.'});
		return key !== '__proto__';
	});
	return Object.fromEntries(entries.map(([key, item]) => [key, plain(item, [...path, key], mistakes)]));
}

/** A mistake with the line that its path, or what that is in, begins in. */
export function withLine(mistake: Mistake, lines: ReadonlyMap<string, number>): Mistake {
	if (mistake.line !== undefined || mistake.path === undefined) return mistake;
	for (let {path} = mistake; path.length > 0; path = path.slice(0, -1)) {
		const line = lines.get(pathKey(path));
		if (line !== undefined) return {...mistake, line};
	}
	return mistake;
}
