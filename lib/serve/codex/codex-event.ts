import type {JsonObject} from '../../util/json.js';

/** An event of a turn that is relevant to users, independent of the interface of Codex. */
export type CodexEvent = {
	/** A level of MCP logging. */
	readonly level: 'debug' | 'info' | 'warning' | 'error';
	readonly type: string;
	/** A short text for progress notifications. */
	readonly summary: string;
	readonly details: JsonObject;
};

/** Limits on characters of a text, entries of a list of files and characters of a summary. */
const MAX_TEXT = 4000;
const MAX_FILES = 100;
const MAX_SUMMARY = 200;

const truncate = (text: string, length = MAX_TEXT): string =>
	text.length <= length ? text : `${text.slice(0, length)}…`;
const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');
const createEvent = (
	level: CodexEvent['level'],
	type: string,
	summary: string,
	details: JsonObject,
): CodexEvent => ({
	level,
	type,
	summary: truncate(summary, MAX_SUMMARY),
	details,
});

/** Creates the events that clients receive. */
export const codexEvents = {
	message: (text: unknown): CodexEvent =>
		createEvent('info', 'message', stringOrEmpty(text), {text: truncate(stringOrEmpty(text))}),
	commandStarted: (command: string, cwd: unknown): CodexEvent =>
		createEvent('info', 'command_started', `Running ${command}`, {command: truncate(command), cwd}),
	commandFinished: (command: string, exitCode: unknown, output: unknown): CodexEvent =>
		createEvent('info', 'command_finished', `Ran ${command}`, {
			command: truncate(command),
			exitCode,
			output: truncate(stringOrEmpty(output)),
		}),
	patchStarted: (files: readonly string[]): CodexEvent =>
		createEvent('info', 'patch_started', 'Changing files', {files: files.slice(0, MAX_FILES)}),
	patchFinished: (files: readonly string[], isApplied: boolean): CodexEvent =>
		createEvent('info', 'patch_finished', 'Changed files', {files: files.slice(0, MAX_FILES), isApplied}),
	toolStarted: (server: unknown, tool: unknown): CodexEvent =>
		createEvent('info', 'tool_call_started', `Calling ${stringOrEmpty(tool)}`, {server, tool}),
	toolFinished: (server: unknown, tool: unknown, isFailed: boolean): CodexEvent =>
		createEvent('info', 'tool_call_finished', `Called ${stringOrEmpty(tool)}`, {server, tool, isFailed}),
	search: (query: unknown): CodexEvent =>
		createEvent('info', 'web_search', `Searched the web for ${stringOrEmpty(query)}`, {
			query: truncate(stringOrEmpty(query)),
		}),
	warning: (message: unknown): CodexEvent =>
		createEvent('warning', 'warning', stringOrEmpty(message), {message: truncate(stringOrEmpty(message))}),
	error: (message: unknown): CodexEvent =>
		createEvent('error', 'error', stringOrEmpty(message), {message: truncate(stringOrEmpty(message))}),
	tokens: (total: unknown, last: unknown, contextWindow: unknown): CodexEvent =>
		createEvent('debug', 'token_count', 'Counted tokens', {total, last, contextWindow}),
};
