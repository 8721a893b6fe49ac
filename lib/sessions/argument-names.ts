import {nearest} from '../nearest.js';
import {printable, shortened} from '../printable.js';
import type {JsonObject} from '../protocol/json.js';
import {Refusal} from './refusal.js';

/** Arguments of `codex` that are for bridge: Codex would reject a call that has one. */
export const ownArguments = [
	'identity',
	'role',
	'tag',
	'agent_file',
	'agent_file_as',
	'codex_id',
	'auto_mail',
] as const;

/** Arguments that only a new session can have. */
export const startOnly = [
	'agent_file_as',
	'config',
	'base-instructions',
	'developer-instructions',
	'compact-prompt',
	'profile',
] as const;

const codexOwn = ['prompt', 'model', 'cwd', 'sandbox', 'approval-policy', ...startOnly.slice(1)];

/** All arguments of `codex`. `profile` is known to early versions of `codex mcp-server` only. */
export const codexArgumentNames: readonly string[] = [...codexOwn, ...ownArguments];

export const replyArguments: readonly string[] = ['codex_id', 'threadId', 'conversationId', 'prompt'];

export const sandboxes: readonly string[] = ['read-only', 'workspace-write', 'danger-full-access'];

/** Rejects arguments that a tool does not have. */
export function checkKnown(tool: string, args: JsonObject, known: readonly string[]): void {
	const stranger = Object.keys(args).find(name => !known.includes(name));
	if (stranger === undefined) return;
	const shown = known.filter(name => name !== 'profile' && name !== 'conversationId');
	const list = shown.length === 0 ? 'It has none.' : `It has ${shown.join(', ')}.`;
	const name = printable(JSON.stringify(shortened(stranger)));
	throw invalid(`${tool} has no argument ${name}. ${[nearest(stranger, shown), list].join(' ').trim()}`);
}

/** An argument that is a text, and not an empty one unless it may be. */
export function text(args: JsonObject, name: string, mayBeEmpty = false): string | undefined {
	const value = args[name];
	if (value === undefined || value === null) return;
	if (typeof value !== 'string') throw invalid(`${name} has to be a text.`);
	if (value.includes('\0')) throw invalid(`${name} must not hold NUL characters.`);
	if (value.trim() === '' && !mayBeEmpty) throw invalid(`${name} is empty: leave it out or give a value.`);
	return value;
}

export const invalid = (sentence: string): Refusal => new Refusal('invalid_params', sentence);
