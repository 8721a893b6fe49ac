import {inputParameters} from './input-schema.js';
import {ProgramError} from './program-error.js';
import type {Arguments, PackTool} from './types.js';

/** The arguments of a call as the program wrote them. */
export type CallArguments = {
	readonly positional: readonly unknown[];
	readonly named: ReadonlyArray<readonly [name: string, value: unknown]>;
};

/** Bounds the work: each named argument is compared to all parameter names. */
const MAX_NAMED = 1000;

/**
 * Maps the arguments of a call to the tool's parameters. Positional arguments fill the parameters in
 * signature order. A parameter name may be abbreviated to an unambiguous prefix. Unknown names are passed
 * through for the upstream to validate.
 */
export function bindArguments(
	callName: string,
	tool: PackTool,
	{positional, named}: CallArguments,
): Arguments {
	const names = inputParameters(tool.inputSchema).map(({name}) => name);
	if (positional.length > names.length) {
		const expected =
			names.length === 0
				? 'only named arguments'
				: `at most ${names.length} positional arguments (${names.join(', ')})`;
		throw new ProgramError(
			'TypeError',
			`${callName}() takes ${expected}; got ${positional.length} positional arguments`,
		);
	}
	if (named.length > MAX_NAMED)
		throw new ProgramError('TypeError', `${callName}() takes at most ${MAX_NAMED} named arguments`);
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
			`'${name}' of ${callName}() is ambiguous. Candidates: ${candidates.join(', ')}`,
		);
	}
	return candidates[0] ?? name;
}
