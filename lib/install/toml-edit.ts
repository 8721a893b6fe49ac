import {stringify} from 'smol-toml';

/**
 * A TOML text with one table set, by its name: in the place of the old one, else at the end. Comments and all else stay as
 * they are, tables below it and keys that are not `owned` too. Whoever calls it has to make sure that the result means what it should: a text that
 * looks like the head of a table may stand in a string.
 */
export function withTable(
	text: string,
	name: readonly string[],
	value: {readonly [key: string]: unknown},
	owned: readonly string[],
): string {
	const head = `[${name.map(bare).join('.')}]`;
	const body = `${head}\n${stringify(value).trimEnd()}\n`;
	const lines = text.split('\n');
	const start = lines.findIndex(line => headOf(line) === head);
	if (start === -1) return `${text}${text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n'}${body}`;
	const next = lines.findIndex((line, at) => at > start && headOf(line) !== undefined);
	const end = next === -1 ? lines.length : next;
	// Space and comments before the next table are about that one.
	let last = end;
	while (last > start + 1 && /^\s*(#.*)?$/.test(lines[last - 1] ?? '')) last--;
	const isOwned = (line: string): boolean => owned.some(key => new RegExp(`^\\s*"?${key}"?\\s*=`).test(line));
	const kept = lines.slice(start + 1, last).filter(line => !isOwned(line));
	return [...lines.slice(0, start), ...body.trimEnd().split('\n'), ...kept, ...lines.slice(last)].join('\n');
}

const bare = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

/** The head of a table, without the space that may be in it. */
function headOf(line: string): string | undefined {
	const [, head] = /^\s*(\[\[?[^\]]+\]\]?)\s*(?:#.*)?$/.exec(line) ?? [];
	return head?.replace(/\s*\.\s*/g, '.').replace(/^(\[+)\s+|\s+(?=\]+$)/g, '$1');
}
