import process from 'node:process';
import {isatty} from 'node:tty';
import type {CliCommand, CommandRegistry, ListedCommand} from './command.js';
import {flagName, type Options} from './option.js';
import {commonOptions} from './options.js';

/** A longer text in the first column puts its explanation on the next line. */
const MAX_COLUMN = 32;
/** The line width in columns. */
const WIDTH = 100;

/** Returns the help of a command, or the overview if the name is missing or unknown. */
export async function helpText(commands: CommandRegistry, fd: number, name?: string): Promise<string> {
	const listed = name === undefined ? undefined : await commands.find(name);
	const text = listed ? commandHelp(listed) : overview(await commands.all());
	return isatty(fd) && !process.env.NO_COLOR ? text.replace(HEADING, '\u001b[1m$&\u001b[0m') : text;
}

/** Matches a heading: a line that is followed by indented lines. */
const HEADING = /^\S.*(?=\n {2}\S)/gm;

function commandHelp({title, command}: ListedCommand): string {
	return [
		`${title}: ${command.summary}`,
		'',
		...section(
			'Usage',
			command.usage.map(([line, description = '']) => [line, description] as const),
		),
		...(command.details === undefined ? [] : [paragraphs(command.details), '']),
		...section('Flags', rowsOf({...command.options, ...commonOptions})),
		...examplesOf([command]),
		'Exit codes',
		indentLines(command.exitCodes, '  '),
		'',
	].join('\n');
}

function overview(all: readonly ListedCommand[]): string {
	const modes = all.filter(({group}) => group === undefined).map(({command}) => command);
	const usage = modes.flatMap(({usage, summary}) => usage.map(([line]) => [line, summary] as const));
	const names = all.filter(({group}) => group !== undefined).map(({name}) => name.length);
	const groups = [...new Set(all.flatMap(({group}) => group ?? []))].flatMap(heading => {
		const rows = all.filter(({group}) => group === heading);
		return section(
			heading,
			rows.map(({name, command}) => [name.padEnd(Math.max(...names)), command.summary]),
		);
	});
	const options: Options = Object.fromEntries(modes.flatMap(({options}) => Object.entries(options)));
	return [
		'bridge: a stream-pipeline proxy for MCP, between clients and their servers',
		'',
		...section('Usage', [...usage, ['bridge COMMAND [flags]', 'see bridge COMMAND --help']]),
		...groups,
		...section('Flags', rowsOf({...options, ...commonOptions})),
		...examplesOf(modes),
		'Exit codes',
		'  0 success, 1 failure, 2 invalid arguments; after `--`, the exit code of the server',
		'',
	].join('\n');
}

const examplesOf = (commands: readonly CliCommand[]): string[] => [
	'Examples',
	...commands.flatMap(({examples}) => examples).map(example => indentLines(example, '  ')),
	'',
];

const rowsOf = (options: Options): ReadonlyArray<readonly [string, string]> =>
	Object.entries(options).map(([key, {value, summary}]) => [
		`--${flagName(key)}${value === undefined ? '' : ` ${value}`}`,
		summary,
	]);

/** Formats a heading with rows in two columns. */
function section(title: string, rows: ReadonlyArray<readonly [string, string]>): string[] {
	const width = Math.max(...rows.map(([left]) => left.length).filter(length => length <= MAX_COLUMN), 0);
	const margin = ' '.repeat(width + 4);
	const lines = rows.map(([left, right]) => {
		// Usage lines are not wrapped, so that they can be copied.
		if (right === '') return `  ${left}`;
		const head = left.length > width ? `  ${left}\n${margin}` : `  ${left.padEnd(width)}  `;
		return `${head}${indentLines(right.replaceAll('\n', ' '), margin).trimStart()}`;
	});
	return [title, ...lines, ''];
}

/** Indents lines by a margin and wraps them at 100 columns. Continuation lines keep their indentation. */
const indentLines = (text: string, margin: string): string =>
	text
		.split('\n')
		.flatMap(line => wrapLine(line, WIDTH - margin.length))
		.map(line => `${margin}${line}`.trimEnd())
		.join('\n');

function wrapLine(line: string, width: number): string[] {
	const [indent = ''] = /^ */.exec(line) ?? [];
	// Text in the second column of a row wraps within that column.
	const [column = indent] = /^ *\S+ {2,}(?=\S)/.exec(line) ?? [];
	const margin = ' '.repeat(column.length);
	const lines = [indent];
	for (const word of line.trim().split(' ')) {
		const last = lines.at(-1) ?? '';
		const isFirst = last === indent && lines.length === 1;
		if (isFirst || last.length + word.length < width)
			lines[lines.length - 1] = `${last}${isFirst ? '' : ' '}${word}`;
		else lines.push(`${margin}${word}`);
	}
	return lines;
}

/** Joins and wraps the lines of each paragraph. Indented lines are preserved. */
const paragraphs = (text: string): string =>
	text
		.split('\n\n')
		.map(part => part.replace(/([^\n])\n(?! )/g, '$1 '))
		.map(part => indentLines(part, ''))
		.join('\n\n');
