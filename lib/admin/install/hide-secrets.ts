import {asTable} from '../../config/client-formats/client-format.js';
import {type DetectedSecret, findSecret, findSecretInArgument} from '../import/detect-secrets.js';

/** The replacement for a secret in a diff. */
const MASK = '***';
/** Shorter secrets are hidden only as whole strings, since they may be part of other words. */
const MIN_PART_LENGTH = 6;

type SecretTexts = {
	/** Texts that are secrets. They are hidden everywhere. */
	readonly secrets: Set<string>;
	/** Values of variables and headers, which may be secret. They are hidden only as whole strings. */
	readonly values: Set<string>;
};

/** Returns a function that hides the secrets of a client's file in a line of it. */
export function createSecretHider(file: unknown, more: readonly string[] = []): (line: string) => string {
	const {secrets, values} = collectTexts(file);
	for (const text of more) secrets.add(text);
	const parts = [...secrets]
		.flatMap(text => [text, JSON.stringify(text).slice(1, -1), ...text.split(/\r?\n/)])
		.filter(({length}) => length >= MIN_PART_LENGTH)
		.toSorted((one, other) => other.length - one.length);
	const isHidden = (text: string): boolean => text !== '' && (secrets.has(text) || values.has(text));
	return line =>
		[...new Set(parts)].reduce((now, part) => now.replaceAll(part, MASK), maskStrings(line, isHidden));
}

/** Tables that contain variables or headers. */
const valueTables: ReadonlySet<string> = new Set(['env', 'headers', 'http_headers']);

function collectTexts(file: unknown): SecretTexts {
	const texts: SecretTexts = {secrets: new Set(), values: new Set()};
	const stack: Array<[key: string, value: unknown]> = [['', file]];
	for (let next = stack.pop(); next; next = stack.pop()) {
		const [key, value] = next;
		for (const {name, item, secret} of listMembers(value)) {
			if (typeof item !== 'string') stack.push([name, item]);
			else if (valueTables.has(key)) texts.values.add(item);
			if (secret) texts.secrets.add(secret.secret);
		}
	}
	return texts;
}

type TableMember = {
	readonly name: string;
	readonly item: unknown;
	readonly secret: DetectedSecret | undefined;
};

function listMembers(value: unknown): TableMember[] {
	if (Array.isArray(value))
		return value.map((item, at) => ({
			name: '',
			item,
			secret: typeof item === 'string' ? findSecretInArgument(String(value[at - 1] ?? ''), item) : undefined,
		}));
	return Object.entries(asTable(value)).map(([name, item]) => ({
		name,
		item,
		secret: typeof item === 'string' ? findSecret(name, item) : undefined,
	}));
}

/** Replaces hidden strings in a line of JSON or TOML, however they are escaped. */
function maskStrings(line: string, isHidden: (text: string) => boolean): string {
	let masked = '';
	let from = 0;
	for (let start = nextQuote(line, 0); start < line.length; start = nextQuote(line, from)) {
		const end = endOfQuotedString(line, start);
		if (end === undefined) break;
		const text = decodeString(line.slice(start, end));
		masked += line.slice(from, start) + (isHidden(text) ? `"${MASK}"` : line.slice(start, end));
		from = end;
	}
	return masked + line.slice(from);
}

function nextQuote(line: string, from: number): number {
	let at = from;
	while (at < line.length && line[at] !== '"' && line[at] !== "'") at++;
	return at;
}

/** Returns the offset after a string, or undefined if the string does not end on this line. */
function endOfQuotedString(line: string, start: number): number | undefined {
	const quote = line[start];
	for (let at = start + 1; at < line.length; at++) {
		if (line[at] === quote) return at + 1;
		if (line[at] === '\\' && quote === '"') at++;
	}
	return;
}

function decodeString(literal: string): string {
	try {
		if (literal.startsWith('"')) return String(JSON.parse(literal));
	} catch {
		// TOML has escape sequences that JSON lacks.
	}
	return literal.slice(1, -1);
}
