import type {ConfigIssue, ConfigPath} from './issues.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';

type ExpandedConfig = {
	readonly value: unknown;
	/** The variables that each value was made of, by path. */
	readonly variables: ReadonlyPathMap<readonly string[]>;
	readonly issues: readonly ConfigIssue[];
};

export type EnvironmentVariables = {readonly [name: string]: string | undefined};

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every string value, but not in keys. As in a shell, the
 * default also replaces an empty variable. Values of variables are not expanded again. `describeMissing`
 * returns the message for a variable without a value.
 */
export function expandVariables(
	input: unknown,
	environment: EnvironmentVariables,
	describeMissing = missingVariable,
): ExpandedConfig {
	const variables = new PathMap<readonly string[]>();
	const issues: ConfigIssue[] = [];
	const walk = (value: unknown, path: ConfigPath): unknown => {
		if (typeof value === 'string') {
			const {text, names, messages} = expandText(value, environment, describeMissing);
			if (names.length > 0) variables.set(path, names);
			for (const message of messages) issues.push({path, text: message});
			return text;
		}
		if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
	};
	return {value: walk(input, []), variables, issues};
}

/**
 * Matches `$${` (an escaped `${`), `${NAME}`, `${NAME:-default}`, Cursor's `${env:NAME}`, and any other `${`.
 */
export const VARIABLE_REFERENCE = /\$\$\{|\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{/g;

function expandText(
	input: string,
	environment: EnvironmentVariables,
	describeMissing: typeof missingVariable,
) {
	const names: string[] = [];
	const messages: string[] = [];
	const text = input.replace(VARIABLE_REFERENCE, (reference: string, name?: string, fallback?: string) => {
		if (reference.startsWith('$$')) return '${';
		if (name === undefined) {
			messages.push(INVALID_REFERENCE);
			return '';
		}
		names.push(name);
		const variableValue = Object.hasOwn(environment, name) ? environment[name] : undefined;
		if (fallback !== undefined) return variableValue || fallback;
		if (variableValue === undefined) messages.push(describeMissing(name));
		return variableValue ?? '';
	});
	return {text, names, messages};
}

const INVALID_REFERENCE = `Invalid $\{ reference. Write $\{NAME} or $\{NAME:-default}, or $$\{ for a literal $\{.`;

/** Returns the message for a variable that is not set. */
export const missingVariable = (name: string): string =>
	`The variable ${name} is not set. Set it, or write $\{${name}:-default}.`;
