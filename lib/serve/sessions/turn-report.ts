import type {Envelope} from '../../core/envelope.js';
import {redactStart} from '../../core/redact.js';
import {type JsonObject, listOf, objectOf, toText, without} from '../../util/json.js';

const turnStatuses = ['completed', 'interrupted', 'failed', 'unknown_thread', 'retired'] as const;

/** An approval that was declined without user input, and the reason. */
export type DeclinedApproval = {readonly message: string; readonly reason: string};

/** The result of a turn, as reported by the backend. */
export type TurnReport = {
	readonly status: (typeof turnStatuses)[number];
	readonly threadId: string | undefined;
	/** The agent's text, or the partial text of a stopped turn. */
	readonly text: string;
	/** The result of the call, without bridge's own metadata. */
	readonly result: JsonObject;
	/** Commands that were still running when the turn was stopped. */
	readonly commands: readonly string[];
	readonly declined: readonly DeclinedApproval[];
	/** Whether Codex has confirmed the end of the turn. Until then the thread accepts no other turn. */
	readonly isConfirmed: boolean;
	/** Whether Codex can no longer use the thread. The next turn then starts a new one. */
	readonly isThreadRetired?: boolean;
};

/** The `_meta` key of the backend's turn report. */
const TURN_REPORT_META = 'io.bridge/turn';

/** Parses any response to a turn, including errors and malformed results. */
export function parseTurnReport({head, body}: Envelope): TurnReport {
	if (head.hasError) return failedTurnReport(toText(objectOf(body.error).message));
	const {_meta, ...result} = objectOf(body.result);
	const turn = objectOf(objectOf(_meta)[TURN_REPORT_META]);
	const structured = objectOf(result.structuredContent);
	const threadId = stringOrUndefined(turn.threadId) ?? stringOrUndefined(structured.threadId);
	const status =
		turnStatuses.find(candidate => candidate === turn.status) ??
		(result.isError === true ? 'failed' : 'completed');
	const meta = without(objectOf(_meta), TURN_REPORT_META);
	return {
		status,
		threadId: threadId === '' ? undefined : threadId,
		text: stringOrUndefined(turn.partial) ?? stringOrUndefined(structured.content) ?? firstText(result),
		result: Object.keys(meta).length === 0 ? result : {...result, _meta: meta},
		isConfirmed: turn.isUnconfirmed !== true,
		commands: listOf(turn.commands).map(String),
		declined: listOf(turn.declined).map(item => objectOf(item) as DeclinedApproval),
		isThreadRetired: turn.isThreadRetired === true,
	};
}

export const failedTurnReport = (text: string): TurnReport => ({
	status: 'failed',
	threadId: undefined,
	text,
	result: {content: [{type: 'text', text}], isError: true},
	isConfirmed: true,
	commands: [],
	declined: [],
});

const MAX_LAST_TEXT = 200;

/** The start of the agent's text for the registry, redacted. */
export const lastTextPatch = ({text}: TurnReport): {readonly last_text?: string} =>
	text === '' ? {} : {last_text: redactStart(text, MAX_LAST_TEXT)};

/** The report of a turn whose end Codex has not confirmed in time. */
export const unconfirmedTurnReport: TurnReport = {
	status: 'interrupted',
	threadId: undefined,
	text: '',
	result: {},
	isConfirmed: false,
	commands: [],
	declined: [],
};

const stringOrUndefined = (value: unknown): string | undefined =>
	typeof value === 'string' ? value : undefined;

const firstText = ({content}: JsonObject): string =>
	listOf(content)
		.map(item => stringOrUndefined(objectOf(item).text))
		.find(text => text !== undefined) ?? '';
