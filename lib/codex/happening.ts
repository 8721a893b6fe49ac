import type {JsonObject} from '../protocol/json.js';

/** Something that people want to hear of a turn, whichever Codex tells it. */
export type Happening = {
	/** A level of MCP's logging. */
	readonly level: 'debug' | 'info' | 'warning' | 'error';
	readonly type: string;
	/** A few words for who watches the progress. */
	readonly summary: string;
	readonly facts: JsonObject;
};

/** How much of a command's output, of a message or of a list is told. */
const MAX_TEXT = 4000;
const MAX_FILES = 100;
const MAX_SUMMARY = 200;

const cut = (text: string, length = MAX_TEXT): string =>
	text.length <= length ? text : `${text.slice(0, length)}…`;
const texts = (value: unknown): string => (typeof value === 'string' ? value : '');
const happening = (
	level: Happening['level'],
	type: string,
	summary: string,
	facts: JsonObject,
): Happening => ({
	level,
	type,
	summary: cut(summary, MAX_SUMMARY),
	facts,
});

/** What can happen, in the words that clients are told it in. */
export const happenings = {
	message: (text: unknown): Happening => happening('info', 'message', texts(text), {text: cut(texts(text))}),
	commandStarted: (command: string, cwd: unknown): Happening =>
		happening('info', 'command_started', `Runs ${command}`, {command: cut(command), cwd}),
	commandFinished: (command: string, exitCode: unknown, output: unknown): Happening =>
		happening('info', 'command_finished', `Ran ${command}`, {
			command: cut(command),
			exitCode,
			output: cut(texts(output)),
		}),
	patchStarted: (files: readonly string[]): Happening =>
		happening('info', 'patch_started', 'Changes files', {files: files.slice(0, MAX_FILES)}),
	patchFinished: (files: readonly string[], isApplied: boolean): Happening =>
		happening('info', 'patch_finished', 'Changed files', {files: files.slice(0, MAX_FILES), isApplied}),
	toolStarted: (server: unknown, tool: unknown): Happening =>
		happening('info', 'tool_call_started', `Calls ${texts(tool)}`, {server, tool}),
	toolFinished: (server: unknown, tool: unknown, isFailed: boolean): Happening =>
		happening('info', 'tool_call_finished', `Called ${texts(tool)}`, {server, tool, isFailed}),
	search: (query: unknown): Happening =>
		happening('info', 'web_search', `Searches ${texts(query)}`, {query: cut(texts(query))}),
	warning: (message: unknown): Happening =>
		happening('warning', 'warning', texts(message), {message: cut(texts(message))}),
	error: (message: unknown): Happening =>
		happening('error', 'error', texts(message), {message: cut(texts(message))}),
	tokens: (total: unknown, last: unknown, contextWindow: unknown): Happening =>
		happening('debug', 'token_count', 'Counted tokens', {total, last, contextWindow}),
};
