import type {ConfigIssue, ConfigPath} from './issues.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';

/** A configuration whose variables have been replaced. */
type ExpandedConfig = {
	readonly value: unknown;
	/** The variables that a value was made of, by its path. */
	readonly variables: ReadonlyPathMap<readonly string[]>;
	readonly issues: readonly ConfigIssue[];
};

export type EnvironmentVariables = {readonly [name: string]: string | undefined};

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every text, never in keys. As in a shell, the default also stands in for
 * a variable that is empty. What a variable holds is not looked at again. `problemOf` is the mistake of a variable
 * without a value.
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
			const {text, used, problems} = expandText(value, environment, describeMissing);
			if (used.length > 0) variables.set(path, used);
			for (const problem of problems) issues.push({path, text: problem});
			return text;
		}
		if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
	};
	return {value: walk(input, []), variables, issues};
}

/** `$${` for a plain `${`, `${NAME}`, `${NAME:-default}`, Cursor's `${env:NAME}`, and what only looks like one of them. */
export const VARIABLE_REFERENCE = /\$\$\{|\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{/g;

function expandText(
	input: string,
	environment: EnvironmentVariables,
	describeMissing: typeof missingVariable,
) {
	const used: string[] = [];
	const problems: string[] = [];
	const text = input.replace(VARIABLE_REFERENCE, (reference: string, name?: string, fallback?: string) => {
		if (reference.startsWith('$$')) return '${';
		if (name === undefined) {
			problems.push(INVALID_REFERENCE);
			return '';
		}
		used.push(name);
		const variableValue = Object.hasOwn(environment, name) ? environment[name] : undefined;
		if (fallback !== undefined) return variableValue || fallback;
		if (variableValue === undefined) problems.push(describeMissing(name));
		return variableValue ?? '';
	});
	return {text, used, problems};
}

const INVALID_REFERENCE = `A $\{ is not followed by a name and a }. Write $\{NAME} or $\{NAME:-default}, and $$\{ for a plain $\{.`;

/** The mistake of a variable that is not set. */
export const missingVariable = (name: string): string =>
	`The variable ${name} is not set. Set it, or write $\{${name}:-default}.`;
