import {fileURLToPath} from 'node:url';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {text} from './call.js';
import {type Happening, happenings} from './happening.js';

/** A command as people write it. */
export const commandLine = (command: unknown): string => {
	const words = listOf(command).map(String);
	// What is run is mostly the last word of `bash -lc …`, which nobody wants to read of.
	return words.length === 3 && words[1]?.startsWith('-') ? (words[2] ?? '') : words.join(' ');
};

/** Codex 0.153 has folders as URLs. */
function pathOf(cwd: unknown): unknown {
	if (typeof cwd !== 'string' || !cwd.startsWith('file://')) return cwd;
	try {
		return fileURLToPath(cwd);
	} catch {
		return cwd;
	}
}

/** What a command has written. Not every version has it under each of these names. */
const outputIn = ({aggregated_output, formatted_output, stdout, stderr}: JsonObject): string =>
	[aggregated_output, formatted_output, `${text(stdout) ?? ''}${text(stderr) ?? ''}`]
		.map(output => text(output) ?? '')
		.find(output => output !== '') ?? '';

const files = (changes: unknown): string[] => Object.keys(objectOf(changes));

/** What each event of `codex mcp-server` means to people; all others repeat these, or say nothing. */
const meanings: {readonly [type: string]: (msg: JsonObject) => Happening | undefined} = {
	agent_message: ({message}) => happenings.message(message),
	exec_command_begin: ({command, cwd}) => happenings.commandStarted(commandLine(command), pathOf(cwd)),
	exec_command_end: ({command, exit_code: code, ...outputs}) =>
		happenings.commandFinished(commandLine(command), code, outputIn(outputs)),
	patch_apply_begin: ({changes}) => happenings.patchStarted(files(changes)),
	patch_apply_end: ({changes, success}) => happenings.patchFinished(files(changes), success === true),
	mcp_tool_call_begin: ({invocation}) => {
		const {server, tool} = objectOf(invocation);
		return happenings.toolStarted(server, tool);
	},
	mcp_tool_call_end: ({invocation, result}) => {
		const {server, tool} = objectOf(invocation);
		return happenings.toolFinished(server, tool, 'Err' in objectOf(result));
	},
	web_search_end: ({query}) => happenings.search(query),
	warning: ({message}) => happenings.warning(message),
	stream_error: ({message}) => happenings.warning(message),
	error: ({message}) => happenings.error(message),
	token_count: ({info}) => {
		const {total_token_usage: total, last_token_usage: last, model_context_window: size} = objectOf(info);
		return total === undefined ? undefined : happenings.tokens(total, last, size);
	},
};

/** What people want to hear of an event, if anything. */
export function mcpHappening(msg: JsonObject): Happening | undefined {
	const type = text(msg.type) ?? '';
	return Object.hasOwn(meanings, type) ? meanings[type]?.(msg) : undefined;
}
