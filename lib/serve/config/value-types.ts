import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import {invalidNameReason} from '../names.js';

/** The type of a setting: a parser for values, and a description for error messages. */
export type SettingType = {
	readonly expected: string;
	/**
	 * Returns the parsed value, or undefined if it is invalid. Relative paths are resolved against `folder`.
	 */
	parse(value: unknown, folder: string): unknown;
	/**
	 * Returns a warning for an invalid value that is kept. Without the value, sessions could get more
	 * permissions than the user intended. Calls that use it fail.
	 */
	warningFor?(value: unknown): string | undefined;
};

/** Converts the text of a variable or flag to the type that a file would have. */
export function parseScalar(text: string): unknown {
	if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
	return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

export const textType: SettingType = {
	expected: 'a non-empty string',
	parse: value =>
		typeof value === 'number' ? String(value) : isNonEmptyText(value) ? value.trim() : undefined,
};

/** The name of a team, a person or a role. */
export const nameType: SettingType = {
	expected: 'a name of letters, digits, ".", "_" and "-"',
	parse: value =>
		isNonEmptyText(value) && invalidNameReason(value.trim()) === undefined ? value.trim() : undefined,
};

/** The identity of a session, without dots: see lib/serve/names.ts. */
export const identityType: SettingType = {
	expected: 'a name of letters, digits, "_" and "-"',
	parse: value =>
		nameType.parse(value, '') !== undefined && !String(value).includes('.')
			? nameType.parse(value, '')
			: undefined,
};

export const booleanType: SettingType = {
	expected: 'true or false',
	parse: value => (typeof value === 'boolean' ? value : undefined),
};

export const integerType = (from: number, to: number): SettingType => ({
	expected: `a whole number from ${from} to ${to}`,
	parse: value =>
		typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to ? value : undefined,
});

export const enumType = (...choices: readonly string[]): SettingType => ({
	expected: `one of ${choices.join(', ')}`,
	parse: value => choices.find(choice => choice === value),
});

/** A restriction of Codex. Unknown values are kept, with a warning. */
export const restrictionType = (...choices: readonly string[]): SettingType => ({
	expected: `one of ${choices.join(', ')}`,
	parse: textType.parse,
	warningFor: value =>
		choices.includes(String(value))
			? undefined
			: `Expected one of ${choices.join(', ')}. Calls that use this value fail.`,
});

/** A file or folder. `~` is the home folder. */
export const pathType: SettingType = {
	expected: 'a path',
	parse: (value, folder) =>
		isNonEmptyText(value) && !value.includes('\0') ? resolvePath(value.trim(), folder) : undefined,
};

/** A program: a name in PATH, or a path. */
export const programType: SettingType = {
	expected: 'the name or the path of a program',
	parse: (value, folder) => {
		if (!isNonEmptyText(value) || value.includes('\0')) return;
		return /[/\\]/.test(value) ? resolvePath(value.trim(), folder) : value.trim();
	},
};

export const pathsType: SettingType = {
	expected: 'a list of paths',
	parse: (value, folder) => {
		const found = Array.isArray(value) ? value.map(each => pathType.parse(each, folder)) : [undefined];
		return found.includes(undefined) ? undefined : found;
	},
};

const resolvePath = (text: string, folder: string): string =>
	/^~(?=$|[/\\])/.test(text) ? join(homedir(), text.slice(1)) : resolve(folder, text);

const isNonEmptyText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
