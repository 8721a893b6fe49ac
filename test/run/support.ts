import {readFileSync} from 'node:fs';
import type {Log} from '../../lib/core/log.js';
import {createRunner} from '../../lib/run/runner.js';
import type {Arguments, Pack, Runner, RunnerOptions, RunResult} from '../../lib/run/types.js';
import {stringifyWithBigInts} from '../../lib/wire/bigint-json.js';

const folder = new URL('../../../fixtures/run/', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

/** What python3 makes of a program: see fixtures/run/regenerate.py. */
export type Expected = {
	readonly name: string;
	readonly source: string;
	readonly stdout: string;
	readonly value?: string;
	readonly error?: string;
};

export const expected: {readonly snippets: Expected[]; readonly programs: Expected[]} = read('expected.json');

type Case = {
	readonly args: unknown;
	readonly value?: unknown;
	readonly error?: string;
	readonly echo?: boolean;
};

/** A log that keeps what is said to it. */
export function memoryLog(): Log & {readonly entries: string[]} {
	const entries: string[] = [];
	const entry = (level: string) => (event: string, sentence: string) => {
		entries.push(`${level} ${event}: ${sentence}`);
	};
	return {
		entries,
		error: entry('error'),
		warn: entry('warn'),
		info: entry('info'),
		debug: entry('debug'),
		trace: entry('trace'),
		flush: async () => {},
	};
}

/** A pack of functions that give what a server would: values as one text of JSON, or text. */
export function pack(
	name: string,
	tools: {readonly [tool: string]: (args: Arguments, signal: AbortSignal) => unknown},
	rest: Partial<Pack> = {},
): Pack {
	return {
		name,
		source: 'proxied',
		tools: Object.keys(tools).map(tool => ({name: tool})),
		async call(tool, args, signal) {
			const value = await tools[tool]?.(args, signal);
			return {
				content: [{type: 'text', text: typeof value === 'string' ? value : stringifyWithBigInts(value)}],
			};
		},
		...rest,
	};
}

function toolOf(cases: readonly Case[]): (args: Arguments) => unknown {
	return args => {
		const found = cases.find(({args: wanted}) => wanted === 'any' || sorted(wanted) === sorted(args));
		if (!found || found.error !== undefined) throw new Error(found?.error ?? 'unexpected arguments');
		return found.echo ? args : found.value;
	};
}

const sorted = (args: unknown): string => JSON.stringify(Object.entries(args as object).sort());

/** The packs of fixtures/run/world.json. */
export const world: readonly Pack[] = Object.entries(
	read('world.json') as {[pack: string]: {[tool: string]: Case[]}},
).map(([name, tools]) =>
	pack(name, Object.fromEntries(Object.entries(tools).map(([tool, cases]) => [tool, toolOf(cases)]))),
);

/** A runner with these packs. */
export const runnerOf = (
	packs: readonly Pack[],
	options: Partial<RunnerOptions> = {},
): Runner & AsyncDisposable => {
	const runner = createRunner({packs: () => packs, log: memoryLog(), ...options});
	return {
		run: (command, how) => runner.run(command, how),
		warmUp: () => runner.warmUp(),
		close: () => runner.close(),
		[Symbol.asyncDispose]: () => runner.close(),
	};
};

/** The text of a result. */
export function textOf({content}: RunResult): string {
	const [first] = content;
	return first?.type === 'text' ? first.text : '';
}

/** Makes a program one for the interpreter, without changing what it does or where. */
export const forInterpreter = (program: string): string => `pass; ${program}`;
