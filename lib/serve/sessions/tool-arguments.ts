import {didYouMean} from '../../util/did-you-mean.js';
import type {JsonObject} from '../../util/json.js';
import {printable, shortened} from '../../util/printable.js';
import {ToolError} from './tool-error.js';

/** Arguments of `codex` that bridge implements. Codex would reject them. */
export const bridgeArgumentNames = [
	'identity',
	'role',
	'tag',
	'agent_file',
	'agent_file_as',
	'codex_id',
	'auto_mail',
] as const;

/** Arguments that are only valid for a new session. */
export const startOnlyArgumentNames = [
	'agent_file_as',
	'config',
	'base-instructions',
	'developer-instructions',
	'compact-prompt',
	'profile',
] as const;

const nativeArgumentNames = [
	'prompt',
	'model',
	'cwd',
	'sandbox',
	'approval-policy',
	...startOnlyArgumentNames.slice(1),
];

/** All arguments of `codex`. Only early versions of `codex mcp-server` support `profile`. */
export const codexArgumentNames: readonly string[] = [...nativeArgumentNames, ...bridgeArgumentNames];

export const replyArgumentNames: readonly string[] = ['codex_id', 'threadId', 'conversationId', 'prompt'];

export const sandboxModes: readonly string[] = ['read-only', 'workspace-write', 'danger-full-access'];

export function assertKnownArguments(tool: string, args: JsonObject, allowed: readonly string[]): void {
	const unknownName = Object.keys(args).find(name => !allowed.includes(name));
	if (unknownName === undefined) return;
	const shown = allowed.filter(name => name !== 'profile' && name !== 'conversationId');
	const list = shown.length === 0 ? 'It has none.' : `It has ${shown.join(', ')}.`;
	const name = printable(JSON.stringify(shortened(unknownName)));
	throw invalidParams(
		`${tool} has no argument ${name}. ${[didYouMean(unknownName, shown), list].join(' ').trim()}`,
	);
}

/** Returns a string argument. Throws if it has another type, contains NUL or is blank without permission. */
export function textArgument(args: JsonObject, name: string, isEmptyAllowed = false): string | undefined {
	const value = args[name];
	if (value === undefined || value === null) return;
	if (typeof value !== 'string') throw invalidParams(`${name} must be a string.`);
	if (value.includes('\0')) throw invalidParams(`${name} must not contain NUL characters.`);
	if (value.trim() === '' && !isEmptyAllowed)
		throw invalidParams(`${name} is empty. Omit it or pass a value.`);
	return value;
}

export const invalidParams = (sentence: string): ToolError => new ToolError('invalid_params', sentence);
