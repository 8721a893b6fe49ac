import type {JsonObject} from '../../util/json.js';

/** Something that people want to hear of a turn, whichever Codex tells it. */
export type CodexEvent = {
	/** A level of MCP's logging. */
	readonly level: 'debug' | 'info' | 'warning' | 'error';
	readonly type: string;
	/** A few words for who watches the progress. */
	readonly summary: string;
	readonly details: JsonObject;
};

/** How much of a command's output, of a message or of a list is told. */
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

/** What can happen, in the words that clients are told it in. */
export const codexEvents = {
	message: (text: unknown): CodexEvent =>
		createEvent('info', 'message', stringOrEmpty(text), {text: truncate(stringOrEmpty(text))}),
	commandStarted: (command: string, cwd: unknown): CodexEvent =>
		createEvent('info', 'command_started', `Runs ${command}`, {command: truncate(command), cwd}),
	commandFinished: (command: string, exitCode: unknown, output: unknown): CodexEvent =>
		createEvent('info', 'command_finished', `Ran ${command}`, {
			command: truncate(command),
			exitCode,
			output: truncate(stringOrEmpty(output)),
		}),
	patchStarted: (files: readonly string[]): CodexEvent =>
		createEvent('info', 'patch_started', 'Changes files', {files: files.slice(0, MAX_FILES)}),
	patchFinished: (files: readonly string[], isApplied: boolean): CodexEvent =>
		createEvent('info', 'patch_finished', 'Changed files', {files: files.slice(0, MAX_FILES), isApplied}),
	toolStarted: (server: unknown, tool: unknown): CodexEvent =>
		createEvent('info', 'tool_call_started', `Calls ${stringOrEmpty(tool)}`, {server, tool}),
	toolFinished: (server: unknown, tool: unknown, isFailed: boolean): CodexEvent =>
		createEvent('info', 'tool_call_finished', `Called ${stringOrEmpty(tool)}`, {server, tool, isFailed}),
	search: (query: unknown): CodexEvent =>
		createEvent('info', 'web_search', `Searches ${stringOrEmpty(query)}`, {
			query: truncate(stringOrEmpty(query)),
		}),
	warning: (message: unknown): CodexEvent =>
		createEvent('warning', 'warning', stringOrEmpty(message), {message: truncate(stringOrEmpty(message))}),
	error: (message: unknown): CodexEvent =>
		createEvent('error', 'error', stringOrEmpty(message), {message: truncate(stringOrEmpty(message))}),
	tokens: (total: unknown, last: unknown, contextWindow: unknown): CodexEvent =>
		createEvent('debug', 'token_count', 'Counted tokens', {total, last, contextWindow}),
};
