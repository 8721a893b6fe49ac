import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import {invalidNameReason} from '../names.js';

/** What a setting may be: how a file's value is understood, and what to say of one that is not. */
export type SettingType = {
	readonly expected: string;
	/** The value, or undefined if it is none. Paths are seen from `folder`. */
	parse(value: unknown, folder: string): unknown;
	/**
	 * What is wrong with a value that is kept all the same: without it, sessions could get rights that the user did not want
	 * them to have. Calls that use it fail.
	 */
	warningFor?(value: unknown): string | undefined;
};

/** A value of a variable or a flag, which is always a text, as a file would have it. */
export function parseScalar(text: string): unknown {
	if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
	return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

export const textType: SettingType = {
	expected: 'a text',
	parse: value =>
		typeof value === 'number' ? String(value) : isNonEmptyText(value) ? value.trim() : undefined,
};

/** For the name of a team, a person, a role. */
export const nameType: SettingType = {
	expected: 'a name of letters, digits, ".", "_" and "-"',
	parse: value =>
		isNonEmptyText(value) && invalidNameReason(value.trim()) === undefined ? value.trim() : undefined,
};

/** For the name of a session: without dots, see lib/serve/names.ts. */
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

/** A restriction, which Codex knows by one of these names. */
export const restrictionType = (...choices: readonly string[]): SettingType => ({
	expected: `one of ${choices.join(', ')}`,
	parse: textType.parse,
	warningFor: value =>
		choices.includes(String(value))
			? undefined
			: `Expected one of ${choices.join(', ')}. Calls that use this value fail.`,
});

/** A file or folder; `~` is the user's own folder. */
export const pathType: SettingType = {
	expected: 'a path',
	parse: (value, folder) =>
		isNonEmptyText(value) && !value.includes('\0') ? resolvePath(value.trim(), folder) : undefined,
};

/** A program: a name that is looked for in PATH, or a path. */
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
