import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {type CodexEvent, codexEvents} from './codex-event.js';
import {stringOrUndefined} from './turn-call.js';

/** The paths in the `changes` of a `fileChange` item. */
export const changedFiles = (changes: unknown): string[] =>
	listOf(changes).map(change => stringOrUndefined(objectOf(change).path) ?? '');

/** The threads of the subagents that an item started. */
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

/** Converts the notifications of `codex app-server` that are relevant to users, by method. */
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

/** Returns the event that a notification reports, or undefined if it is not relevant to users. */
export const parseAppEvent = (method: string, params: JsonObject): CodexEvent | undefined =>
	Object.hasOwn(eventParsers, method) ? eventParsers[method]?.(params) : undefined;

/** Notifications that bridge does not use. `initialize` opts out of them. */
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
