import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {text} from './call.js';
import {type Happening, happenings} from './happening.js';

/** The files that a change of files is about. */
export const changedFiles = (changes: unknown): string[] =>
	listOf(changes).map(change => text(objectOf(change).path) ?? '');

/** The threads of the agents that an item has started. */
export function startedAgents({type, tool, receiverThreadIds, kind, agentThreadId}: JsonObject): string[] {
	if (type === 'collabAgentToolCall' && tool === 'spawnAgent') return listOf(receiverThreadIds).map(String);
	return type === 'subAgentActivity' && kind === 'started' ? [String(agentThreadId)] : [];
}

/** What the beginning of an item of a turn means to people. */
function began(item: JsonObject): Happening | undefined {
	switch (item.type) {
		case 'commandExecution':
			return happenings.commandStarted(text(item.command) ?? '', item.cwd);
		case 'fileChange':
			return happenings.patchStarted(changedFiles(item.changes));
		case 'mcpToolCall':
			return happenings.toolStarted(item.server, item.tool);
		default:
			return;
	}
}

/** The same for its end. */
function ended(item: JsonObject): Happening | undefined {
	switch (item.type) {
		case 'agentMessage':
			return happenings.message(item.text);
		case 'commandExecution':
			return happenings.commandFinished(text(item.command) ?? '', item.exitCode, item.aggregatedOutput);
		case 'fileChange':
			return happenings.patchFinished(changedFiles(item.changes), item.status === 'completed');
		case 'mcpToolCall':
			return happenings.toolFinished(item.server, item.tool, item.status !== 'completed');
		case 'webSearch':
			return happenings.search(item.query);
		default:
			return;
	}
}

const summaryOf = ({summary, details}: JsonObject): string =>
	text(details) ? `${summary} ${details}` : String(summary);

/** What each notification of `codex app-server` means to people; all others say nothing to them. */
const meanings: {readonly [method: string]: (params: JsonObject) => Happening | undefined} = {
	'item/started': ({item}) => began(objectOf(item)),
	'item/completed': ({item}) => ended(objectOf(item)),
	warning: ({message}) => happenings.warning(message),
	guardianWarning: ({message}) => happenings.warning(message),
	configWarning: params => happenings.warning(summaryOf(params)),
	deprecationNotice: params => happenings.warning(summaryOf(params)),
	error: ({error, willRetry}) => {
		const {message} = objectOf(error);
		return willRetry === true ? happenings.warning(message) : happenings.error(message);
	},
	'thread/tokenUsage/updated': ({tokenUsage}) => {
		const {total, last, modelContextWindow} = objectOf(tokenUsage);
		return happenings.tokens(total, last, modelContextWindow);
	},
};

/** What people want to hear of a notification, if anything. */
export const appHappening = (method: string, params: JsonObject): Happening | undefined =>
	Object.hasOwn(meanings, method) ? meanings[method]?.(params) : undefined;

/** What nobody here wants to hear: Codex does not send it then. */
export const unwanted: readonly string[] = [
	'thread/started',
	'thread/status/changed',
	'account/rateLimits/updated',
	'turn/diff/updated',
	'remoteControl/status/changed',
	'item/commandExecution/outputDelta',
	'item/fileChange/outputDelta',
	'rawResponseItem/completed',
	'rawResponse/completed',
	'command/exec/outputDelta',
];
