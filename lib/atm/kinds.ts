import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import {wrongWith} from './names.js';

/** What a setting may be: how a file's value is understood, and what to say of one that is not. */
export type Kind = {
	readonly expected: string;
	/** The value, or undefined if it is none. Paths are seen from `folder`. */
	read(value: unknown, folder: string): unknown;
	/**
	 * What is wrong with a value that is kept all the same: without it, sessions could get rights that the user did not want
	 * them to have. Calls that use it fail.
	 */
	problemOf?(value: unknown): string | undefined;
};

/** A value of a variable or a flag, which is always a text, as a file would have it. */
export function fromText(text: string): unknown {
	if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
	return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

export const text: Kind = {
	expected: 'a text',
	read: value => (typeof value === 'number' ? String(value) : isText(value) ? value.trim() : undefined),
};

/** For the name of a team, a person, a role. */
export const name: Kind = {
	expected: 'a name of letters, digits, ".", "_" and "-"',
	read: value => (isText(value) && wrongWith(value.trim()) === undefined ? value.trim() : undefined),
};

/** For the name of a session: without dots, see lib/atm/names.ts. */
export const identity: Kind = {
	expected: 'a name of letters, digits, "_" and "-"',
	read: value =>
		name.read(value, '') !== undefined && !String(value).includes('.') ? name.read(value, '') : undefined,
};

export const flag: Kind = {
	expected: 'true or false',
	read: value => (typeof value === 'boolean' ? value : undefined),
};

export const whole = (from: number, to: number): Kind => ({
	expected: `a whole number from ${from} to ${to}`,
	read: value =>
		typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to ? value : undefined,
});

export const oneOf = (...choices: readonly string[]): Kind => ({
	expected: `one of ${choices.join(', ')}`,
	read: value => choices.find(choice => choice === value),
});

/** A restriction, which Codex knows by one of these names. */
export const restriction = (...choices: readonly string[]): Kind => ({
	expected: `one of ${choices.join(', ')}`,
	read: text.read,
	problemOf: value =>
		choices.includes(String(value))
			? undefined
			: `Expected one of ${choices.join(', ')}. Calls that use this value fail.`,
});

/** A file or folder; `~` is the user's own folder. */
export const path: Kind = {
	expected: 'a path',
	read: (value, folder) =>
		isText(value) && !value.includes('\0') ? absolute(value.trim(), folder) : undefined,
};

/** A program: a name that is looked for in PATH, or a path. */
export const program: Kind = {
	expected: 'the name or the path of a program',
	read: (value, folder) => {
		if (!isText(value) || value.includes('\0')) return;
		return /[/\\]/.test(value) ? absolute(value.trim(), folder) : value.trim();
	},
};

export const paths: Kind = {
	expected: 'a list of paths',
	read: (value, folder) => {
		const found = Array.isArray(value) ? value.map(each => path.read(each, folder)) : [undefined];
		return found.includes(undefined) ? undefined : found;
	},
};

const absolute = (text: string, folder: string): string =>
	/^~(?=$|[/\\])/.test(text) ? join(homedir(), text.slice(1)) : resolve(folder, text);

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
