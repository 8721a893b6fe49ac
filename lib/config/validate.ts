import type * as z from 'zod';
import {didYouMean} from '../util/did-you-mean.js';
import {printable, shortened} from '../util/printable.js';
import type {ConfigIssue, ConfigPath} from './issues.js';

/** A valid value, or the issues of an invalid one. */
type ValidationResult<T> = {readonly value: T | undefined; readonly issues: readonly ConfigIssue[]};

type ValidationContext = {
	/** The path of the value in the file. */
	readonly path: ConfigPath;
	/** Returns the known keys of the object at a path relative to the value. */
	keysAt(path: ConfigPath): readonly string[];
};

/** Validates a value against a schema. Issues describe the expected value and never contain secrets. */
export function validate<T extends z.ZodType>(
	schema: T,
	input: unknown,
	context: ValidationContext,
): ValidationResult<z.output<T>> {
	const result = schema.safeParse(input);
	if (result.success) return {value: result.data, issues: []};
	return {
		value: undefined,
		issues: result.error.issues.flatMap(issue => toConfigIssues(issue, input, context)),
	};
}

function toConfigIssues(
	issue: z.core.$ZodIssue,
	input: unknown,
	{path, keysAt}: ValidationContext,
): ConfigIssue[] {
	const inner = issue.path.map(key => (typeof key === 'number' ? key : String(key)));
	const whole = [...path, ...inner];
	if (issue.code === 'unrecognized_keys')
		return issue.keys.map(key => ({
			path: [...whole, key],
			text: `This key is not known. ${didYouMean(key, keysAt(inner))}`.trim(),
		}));
	if (issue.code === 'invalid_key') {
		const [{message} = {message: 'valid'}] = issue.issues;
		return [{path: whole, text: `The name is not ${message}.`}];
	}
	return [{path: whole, text: `Expected ${issue.message}${describeFound(inner, input)}.`}];
}

/** Keys whose values may contain secrets. */
const sensitiveKeys = new Set([
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

function describeFound(path: ConfigPath, input: unknown): string {
	const value = path.reduce<unknown>((at, key) => (isObjectOrArray(at) ? at[key] : undefined), input);
	if (Array.isArray(value)) return ', found a list';
	if (isObjectOrArray(value)) return ', found keys and values';
	if (value === null || value === undefined || value === '') return ', found nothing';
	if (path.some(key => sensitiveKeys.has(String(key))))
		return typeof value === 'string' ? '' : `, found a ${typeof value}`;
	return `, found ${printable(shortened(JSON.stringify(value) ?? typeof value))}`;
}

export const isObjectOrArray = (value: unknown): value is {readonly [key: string | number]: unknown} =>
	typeof value === 'object' && value !== null;
