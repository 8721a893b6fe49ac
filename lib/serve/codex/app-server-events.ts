import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {type CodexEvent, codexEvents} from './codex-event.js';
import {stringOrUndefined} from './turn-call.js';

/** The files that a change of files is about. */
export const changedFiles = (changes: unknown): string[] =>
	listOf(changes).map(change => stringOrUndefined(objectOf(change).path) ?? '');

/** The threads of the agents that an item has started. */
export function startedAgentThreads({
	type,
	tool,
	receiverThreadIds,
	kind,
	agentThreadId,
}: JsonObject): string[] {
	if (type === 'collabAgentToolCall' && tool === 'spawnAgent') return listOf(receiverThreadIds).map(String);
	return type === 'subAgentActivity' && kind === 'started' ? [String(agentThreadId)] : [];
}

/** What the beginning of an item of a turn means to people. */
function itemStartedEvent(item: JsonObject): CodexEvent | undefined {
	switch (item.type) {
		case 'commandExecution':
			return codexEvents.commandStarted(stringOrUndefined(item.command) ?? '', item.cwd);
		case 'fileChange':
			return codexEvents.patchStarted(changedFiles(item.changes));
		case 'mcpToolCall':
			return codexEvents.toolStarted(item.server, item.tool);
		default:
			return;
	}
}

/** The same for its end. */
function itemCompletedEvent(item: JsonObject): CodexEvent | undefined {
	switch (item.type) {
		case 'agentMessage':
			return codexEvents.message(item.text);
		case 'commandExecution':
			return codexEvents.commandFinished(
				stringOrUndefined(item.command) ?? '',
				item.exitCode,
				item.aggregatedOutput,
			);
		case 'fileChange':
			return codexEvents.patchFinished(changedFiles(item.changes), item.status === 'completed');
		case 'mcpToolCall':
			return codexEvents.toolFinished(item.server, item.tool, item.status !== 'completed');
		case 'webSearch':
			return codexEvents.search(item.query);
		default:
			return;
	}
}

const summaryOf = ({summary, details}: JsonObject): string =>
	stringOrUndefined(details) ? `${summary} ${details}` : String(summary);

/** What each notification of `codex app-server` means to people; all others say nothing to them. */
const eventParsers: {readonly [method: string]: (params: JsonObject) => CodexEvent | undefined} = {
	'item/started': ({item}) => itemStartedEvent(objectOf(item)),
	'item/completed': ({item}) => itemCompletedEvent(objectOf(item)),
	warning: ({message}) => codexEvents.warning(message),
	guardianWarning: ({message}) => codexEvents.warning(message),
	configWarning: params => codexEvents.warning(summaryOf(params)),
	deprecationNotice: params => codexEvents.warning(summaryOf(params)),
	error: ({error, willRetry}) => {
		const {message} = objectOf(error);
		return willRetry === true ? codexEvents.warning(message) : codexEvents.error(message);
	},
	'thread/tokenUsage/updated': ({tokenUsage}) => {
		const {total, last, modelContextWindow} = objectOf(tokenUsage);
		return codexEvents.tokens(total, last, modelContextWindow);
	},
};

/** What people want to hear of a notification, if anything. */
export const parseAppEvent = (method: string, params: JsonObject): CodexEvent | undefined =>
	Object.hasOwn(eventParsers, method) ? eventParsers[method]?.(params) : undefined;

/** What nobody here wants to hear: Codex does not send it then. */
export const optOutNotifications: readonly string[] = [
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
