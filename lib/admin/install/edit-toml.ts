import {stringify} from 'smol-toml';
import {isObject} from '../../util/json.js';

/**
 * Sets a table in a TOML text: replaces the existing table or appends a new one. Comments, subtables and keys
 * not in `ownedKeys` are preserved. The caller must verify the result, since a line in a multi-line string
 * may look like a table header.
 */
export function setTomlTable(
	text: string,
	name: readonly string[],
	value: {readonly [key: string]: unknown},
	ownedKeys: readonly string[],
): string {
	const head = `[${name.map(bare).join('.')}]`;
	const body = `${head}\n${Object.entries(value).map(lineOf).join('\n')}\n`;
	const lines = text.split('\n');
	const start = lines.findIndex(line => headOf(line) === head);
	if (start === -1) return `${text}${text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n'}${body}`;
	const next = lines.findIndex((line, at) => at > start && headOf(line) !== undefined);
	const end = next === -1 ? lines.length : next;
	// Blank lines and comments before the next table belong to that table.
	let last = end;
	while (last > start + 1 && /^\s*(#.*)?$/.test(lines[last - 1] ?? '')) last--;
	const isOwned = (line: string): boolean => ownedKeys.includes(keyOf(line));
	const preserved = lines.slice(start + 1, last).filter(line => !isOwned(line));
	return [...lines.slice(0, start), ...body.trimEnd().split('\n'), ...preserved, ...lines.slice(last)].join(
		'\n',
	);
}

/**
 * Returns the offset of a key's value in a table with its own header, or undefined if it is written in
 * another style.
 */
export function findTomlValue(text: string, name: readonly string[], key: string): number | undefined {
	const head = `[${name.map(bare).join('.')}]`;
	const lines = text.split('\n');
	const start = lines.findIndex(line => headOf(line) === head);
	let at = lines.slice(0, start + 1).join('\n').length + 1;
	for (const line of start === -1 ? [] : lines.slice(start + 1)) {
		if (headOf(line) !== undefined) return;
		if (keyOf(line) === key) return at + (/^\s*"?[\w-]+"?\s*=\s*/.exec(line)?.[0].length ?? 0);
		at += line.length + 1;
	}
	return;
}

/**
 * Formats a key and its value on one line. A table becomes an inline table, since a header would end the
 * current table.
 */
function lineOf([key, value]: [string, unknown]): string {
	if (!isObject(value)) return stringify({[key]: value}).trimEnd();
	const members = Object.entries(value).map(
		([name, text]) => `${JSON.stringify(name)} = ${JSON.stringify(text)}`,
	);
	return `${bare(key)} = { ${members.join(', ')} }`;
}

const bare = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

/** Returns the key that a line sets. */
const keyOf = (line: string): string => /^\s*"?([\w-]+)"?\s*=/.exec(line)?.[1] ?? '';

/** Returns a table header without its optional whitespace. */
function headOf(line: string): string | undefined {
	const [, open, name, close] = /^\s*(\[\[?)([^\]]+)(\]\]?)\s*(?:#.*)?$/.exec(line) ?? [];
	if (name === undefined) return;
	const words = name.split('.').map(word => word.trim());
	return `${open}${words.join('.')}${close}`;
}
