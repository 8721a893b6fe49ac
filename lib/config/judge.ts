import type * as z from 'zod';
import {nearest} from '../nearest.js';
import {printable, shortened} from '../printable.js';
import type {Mistake, Path} from './mistakes.js';

/** A value that fits its shape, or all that is wrong with it. */
export type Judged<T> = {readonly value: T | undefined; readonly mistakes: readonly Mistake[]};

export type Place = {
	/** Where the value is in the file. */
	readonly path: Path;
	/** The keys that are known in what is at this path, relative to the value. */
	known(path: Path): readonly string[];
};

/** Holds a value against a shape, and says of each mistake what was expected, and never what a secret is. */
export function judge<T extends z.ZodType>(shape: T, given: unknown, place: Place): Judged<z.output<T>> {
	const result = shape.safeParse(given);
	if (result.success) return {value: result.data, mistakes: []};
	return {value: undefined, mistakes: result.error.issues.flatMap(issue => mistakesOf(issue, given, place))};
}

function mistakesOf(issue: z.core.$ZodIssue, given: unknown, {path, known}: Place): Mistake[] {
	const inner = issue.path.map(key => (typeof key === 'number' ? key : String(key)));
	const whole = [...path, ...inner];
	if (issue.code === 'unrecognized_keys')
		return issue.keys.map(key => ({
			path: [...whole, key],
			text: `This key is not known. ${nearest(key, known(inner))}`.trim(),
		}));
	if (issue.code === 'invalid_key') {
		const [{message} = {message: 'known'}] = issue.issues;
		return [{path: whole, text: `The name is not ${message}.`}];
	}
	return [{path: whole, text: `Expected ${issue.message}${found(inner, given)}.`}];
}

/** Keys whose values, or parts of them, tend to be secret. */
const delicate = new Set([
	'tokens',
	'secret',
	'store',
	'advertise',
	'url',
	'headers',
	'env',
	'args',
	'command',
]);

function found(path: Path, given: unknown): string {
	const value = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), given);
	if (Array.isArray(value)) return ', found a list';
	if (isObject(value)) return ', found keys and values';
	if (value === null || value === undefined || value === '') return ', found nothing';
	if (path.some(key => delicate.has(String(key))))
		return typeof value === 'string' ? '' : `, found a ${typeof value}`;
	return `, found ${printable(shortened(JSON.stringify(value) ?? typeof value))}`;
}

/** Whether a value has keys, or positions. */
export const isObject = (value: unknown): value is {readonly [key: string | number]: unknown} =>
	typeof value === 'object' && value !== null;
