import {stringify} from 'smol-toml';
import {isObject} from '../../util/json.js';

/**
 * A TOML text with one table set, by its name: in the place of the old one, else at the end. Comments and all else stay as
 * they are, tables below it and keys that are not `owned` too. Whoever calls it has to make sure that the result means what it should: a text that
 * looks like the head of a table may stand in a string.
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
	// Space and comments before the next table are about that one.
	let last = end;
	while (last > start + 1 && /^\s*(#.*)?$/.test(lines[last - 1] ?? '')) last--;
	const isOwned = (line: string): boolean => ownedKeys.includes(keyOf(line));
	const preserved = lines.slice(start + 1, last).filter(line => !isOwned(line));
	return [...lines.slice(0, start), ...body.trimEnd().split('\n'), ...preserved, ...lines.slice(last)].join(
		'\n',
	);
}

/** Where the value of a key starts, in a table with its own head; undefined where that is written in another way. */
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

/** A key and its value in one line. A value that is a table stands in braces: its own head would end the table. */
function lineOf([key, value]: [string, unknown]): string {
	if (!isObject(value)) return stringify({[key]: value}).trimEnd();
	const members = Object.entries(value).map(
		([name, text]) => `${JSON.stringify(name)} = ${JSON.stringify(text)}`,
	);
	return `${bare(key)} = { ${members.join(', ')} }`;
}

const bare = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

/** The key that a line sets. */
const keyOf = (line: string): string => /^\s*"?([\w-]+)"?\s*=/.exec(line)?.[1] ?? '';

/** The head of a table, without the space that may be in it. */
function headOf(line: string): string | undefined {
	const [, open, name, close] = /^\s*(\[\[?)([^\]]+)(\]\]?)\s*(?:#.*)?$/.exec(line) ?? [];
	if (name === undefined) return;
	const words = name.split('.').map(word => word.trim());
	return `${open}${words.join('.')}${close}`;
}
