import type {Mistake, Path} from './mistakes.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';

/** A configuration whose variables have been replaced. */
export type Expanded = {
	readonly value: unknown;
	/** The variables that a value was made of, by its path. */
	readonly variables: ReadonlyPathMap<readonly string[]>;
	readonly mistakes: readonly Mistake[];
};

export type Variables = {readonly [name: string]: string | undefined};

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every text, never in keys. As in a shell, the default also stands in for
 * a variable that is empty. What a variable holds is not looked at again. `problemOf` is the mistake of a variable
 * without a value.
 */
export function expand(given: unknown, environment: Variables, problemOf = missing): Expanded {
	const variables = new PathMap<readonly string[]>();
	const mistakes: Mistake[] = [];
	const walk = (value: unknown, path: Path): unknown => {
		if (typeof value === 'string') {
			const {text, used, problems} = expandText(value, environment, problemOf);
			if (used.length > 0) variables.set(path, used);
			for (const problem of problems) mistakes.push({path, text: problem});
			return text;
		}
		if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
	};
	return {value: walk(given, []), variables, mistakes};
}

/** `$${` for a plain `${`, `${NAME}`, `${NAME:-default}`, Cursor's `${env:NAME}`, and what only looks like one of them. */
export const REFERENCE = /\$\$\{|\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{/g;

function expandText(given: string, environment: Variables, problemOf: typeof missing) {
	const used: string[] = [];
	const problems: string[] = [];
	const text = given.replace(REFERENCE, (reference: string, name?: string, fallback?: string) => {
		if (reference.startsWith('$$')) return '${';
		if (name === undefined) {
			problems.push(NO_REFERENCE);
			return '';
		}
		used.push(name);
		const held = Object.hasOwn(environment, name) ? environment[name] : undefined;
		if (fallback !== undefined) return held || fallback;
		if (held === undefined) problems.push(problemOf(name));
		return held ?? '';
	});
	return {text, used, problems};
}

const NO_REFERENCE = `A $\{ is not followed by a name and a }. Write $\{NAME} or $\{NAME:-default}, and $$\{ for a plain $\{.`;

/** The mistake of a variable that is not set. */
export const missing = (name: string): string =>
	`The variable ${name} is not set. Set it, or write $\{${name}:-default}.`;
