import {fileURLToPath} from 'node:url';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {type CodexEvent, codexEvents} from './codex-event.js';
import {stringOrUndefined} from './turn-call.js';

/** A command as a user would type it. */
export const formatCommand = (command: unknown): string => {
	const words = listOf(command).map(String);
	// Commands are usually `bash -lc SCRIPT`, of which only SCRIPT is relevant.
	return words.length === 3 && words[1]?.startsWith('-') ? (words[2] ?? '') : words.join(' ');
};

/** Converts a `file:` URL to a path: Codex 0.153 sends folders as URLs. */
function toPath(cwd: unknown): unknown {
	if (typeof cwd !== 'string' || !cwd.startsWith('file://')) return cwd;
	try {
		return fileURLToPath(cwd);
	} catch {
		return cwd;
	}
}

/** The output of a command. The names of its members differ between versions of Codex. */
const commandOutput = ({aggregated_output, formatted_output, stdout, stderr}: JsonObject): string =>
	[
		aggregated_output,
		formatted_output,
		`${stringOrUndefined(stdout) ?? ''}${stringOrUndefined(stderr) ?? ''}`,
	]
		.map(output => stringOrUndefined(output) ?? '')
		.find(output => output !== '') ?? '';

const changedPaths = (changes: unknown): string[] => Object.keys(objectOf(changes));

/**
 * Converts the events of `codex mcp-server` that are relevant to users, by type. The others duplicate these
 * or are irrelevant.
 */
const eventParsers: {readonly [type: string]: (msg: JsonObject) => CodexEvent | undefined} = {
	agent_message: ({message}) => codexEvents.message(message),
	exec_command_begin: ({command, cwd}) => codexEvents.commandStarted(formatCommand(command), toPath(cwd)),
	exec_command_end: ({command, exit_code: code, ...outputs}) =>
		codexEvents.commandFinished(formatCommand(command), code, commandOutput(outputs)),
	patch_apply_begin: ({changes}) => codexEvents.patchStarted(changedPaths(changes)),
	patch_apply_end: ({changes, success}) => codexEvents.patchFinished(changedPaths(changes), success === true),
	mcp_tool_call_begin: ({invocation}) => {
		const {server, tool} = objectOf(invocation);
		return codexEvents.toolStarted(server, tool);
	},
	mcp_tool_call_end: ({invocation, result}) => {
		const {server, tool} = objectOf(invocation);
		return codexEvents.toolFinished(server, tool, 'Err' in objectOf(result));
	},
	web_search_end: ({query}) => codexEvents.search(query),
	warning: ({message}) => codexEvents.warning(message),
	stream_error: ({message}) => codexEvents.warning(message),
	error: ({message}) => codexEvents.error(message),
	token_count: ({info}) => {
		const {total_token_usage: total, last_token_usage: last, model_context_window: size} = objectOf(info);
		return total === undefined ? undefined : codexEvents.tokens(total, last, size);
	},
};

/** Returns the event, or undefined if it is not relevant to users. */
export function parseMcpEvent(msg: JsonObject): CodexEvent | undefined {
	const type = stringOrUndefined(msg.type) ?? '';
	return Object.hasOwn(eventParsers, type) ? eventParsers[type]?.(msg) : undefined;
}
