import {readFileSync} from 'node:fs';
import type {Log} from '../../lib/core/log.js';
import {createRunner} from '../../lib/run/runner.js';
import type {Arguments, Pack, Runner, RunnerOptions, RunResult} from '../../lib/run/types.js';
import {stringifyWithBigInts} from '../../lib/wire/bigint-json.js';

const folder = new URL('../../../fixtures/run/', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

/** The output of CPython for a program: see fixtures/run/regenerate.py. */
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

/** A log that collects its entries. */
export function memoryLog(): Log & {readonly entries: string[]} {
	const entries: string[] = [];
	const entry = (level: string) => (event: string, message: string) => {
		entries.push(`${level} ${event}: ${message}`);
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

/**
 * A proxied pack of functions. Their results become text content: strings as they are, other values as JSON.
 */
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
		const found = cases.find(
			({args: expectedArgs}) => expectedArgs === 'any' || sorted(expectedArgs) === sorted(args),
		);
		if (!found || found.error !== undefined) throw new Error(found?.error ?? 'unexpected arguments');
		return found.echo ? args : found.value;
	};
}

const sorted = (args: unknown): string => JSON.stringify(Object.entries(args as object).sort());

export const world: readonly Pack[] = Object.entries(
	read('world.json') as {[pack: string]: {[tool: string]: Case[]}},
).map(([name, tools]) =>
	pack(name, Object.fromEntries(Object.entries(tools).map(([tool, cases]) => [tool, toolOf(cases)]))),
);

export const runnerOf = (
	packs: readonly Pack[],
	options: Partial<RunnerOptions> = {},
): Runner & AsyncDisposable => {
	const runner = createRunner({packs: () => packs, log: memoryLog(), ...options});
	return {
		run: (command, runOptions) => runner.run(command, runOptions),
		warmUp: () => runner.warmUp(),
		close: () => runner.close(),
		[Symbol.asyncDispose]: () => runner.close(),
	};
};

export function textOf({content}: RunResult): string {
	const [first] = content;
	return first?.type === 'text' ? first.text : '';
}

/** Forces a program into the interpreter without changing its effect or its line numbers. */
export const forInterpreter = (program: string): string => `pass; ${program}`;
