import {didYouMean} from '../../util/did-you-mean.js';
import type {JsonObject} from '../../util/json.js';
import {printable, shortened} from '../../util/printable.js';
import {ToolError} from './tool-error.js';

/** Arguments of `codex` that are for bridge: Codex would reject a call that has one. */
export const bridgeArgumentNames = [
	'identity',
	'role',
	'tag',
	'agent_file',
	'agent_file_as',
	'codex_id',
	'auto_mail',
] as const;

/** Arguments that only a new session can have. */
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

/** All arguments of `codex`. `profile` is known to early versions of `codex mcp-server` only. */
export const codexArgumentNames: readonly string[] = [...nativeArgumentNames, ...bridgeArgumentNames];

export const replyArgumentNames: readonly string[] = ['codex_id', 'threadId', 'conversationId', 'prompt'];

export const sandboxModes: readonly string[] = ['read-only', 'workspace-write', 'danger-full-access'];

/** Rejects arguments that a tool does not have. */
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

/** An argument that is a text, and not an empty one unless it may be. */
export function textArgument(args: JsonObject, name: string, isEmptyAllowed = false): string | undefined {
	const value = args[name];
	if (value === undefined || value === null) return;
	if (typeof value !== 'string') throw invalidParams(`${name} has to be a text.`);
	if (value.includes('\0')) throw invalidParams(`${name} must not hold NUL characters.`);
	if (value.trim() === '' && !isEmptyAllowed)
		throw invalidParams(`${name} is empty: leave it out or give a value.`);
	return value;
}

export const invalidParams = (sentence: string): ToolError => new ToolError('invalid_params', sentence);
