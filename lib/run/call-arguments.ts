import {inputParameters} from './input-schema.js';
import {ProgramError} from './program-error.js';
import type {Arguments, PackTool} from './types.js';

/** What a program wrote between the parentheses. */
export type CallArguments = {
	readonly positional: readonly unknown[];
	readonly named: ReadonlyArray<readonly [name: string, value: unknown]>;
};

/** More named arguments than this are an error: each is compared to all parameters. */
const MAX_NAMED = 1000;

/**
 * The arguments of a call, under the names that the tool has for them. Those without a name fill the parameters in the
 * order of the signature; a name may be cut short as long as it can mean only one. A name that the tool does not know
 * is passed on: what to make of it is for the server to say.
 */
export function bindArguments(
	callName: string,
	tool: PackTool,
	{positional, named}: CallArguments,
): Arguments {
	const names = inputParameters(tool.inputSchema).map(({name}) => name);
	if (positional.length > names.length) {
		const expected =
			names.length === 0 ? 'only arguments with names' : `at most ${names.length}: ${names.join(', ')}`;
		throw new ProgramError(
			'TypeError',
			`${callName}() takes ${expected}; ${positional.length} without a name were given`,
		);
	}
	if (named.length > MAX_NAMED)
		throw new ProgramError('TypeError', `${callName}() takes at most ${MAX_NAMED} arguments with names`);
	const bound = new Map<string, unknown>();
	for (const [index, value] of positional.entries()) bound.set(names[index] ?? '', value);
	for (const [name, value] of named) {
		const parameterName = resolveParameterName(callName, name, names);
		if (bound.has(parameterName))
			throw new ProgramError('TypeError', `${callName}() got '${parameterName}' more than once`);
		bound.set(parameterName, value);
	}
	return Object.fromEntries(bound);
}

function resolveParameterName(callName: string, name: string, names: readonly string[]): string {
	if (names.includes(name)) return name;
	const candidates = names.filter(full => full.startsWith(name));
	if (candidates.length > 1) {
		throw new ProgramError(
			'TypeError',
			`'${name}' of ${callName}() could be any of: ${candidates.join(', ')}`,
		);
	}
	return candidates[0] ?? name;
}
