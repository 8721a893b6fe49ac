import type {Envelope} from '../../core/envelope.js';
import {redactStart} from '../../core/redact.js';
import {type JsonObject, listOf, objectOf, toText, without} from '../../util/json.js';

const turnStatuses = ['completed', 'interrupted', 'failed', 'unknown_thread', 'retired'] as const;

/** An approval that was declined, and why the user was not asked. */
export type DeclinedApproval = {readonly message: string; readonly reason: string};

/** How a turn ended, as the backend tells it. */
export type TurnReport = {
	readonly status: (typeof turnStatuses)[number];
	readonly threadId: string | undefined;
	/** All that the agent said, or the last of it before the turn was stopped. */
	readonly text: string;
	/** The result of the call, without what is only for here. */
	readonly result: JsonObject;
	/** Commands that had not ended when the turn was stopped. */
	readonly commands: readonly string[];
	/** Approvals that were declined without asking the user. */
	readonly declined: readonly DeclinedApproval[];
	/** Whether Codex is done with the turn. Until then its thread takes no other. */
	readonly isConfirmed: boolean;
	/** Whether Codex cannot use the thread any more: the next turn starts another one. */
	readonly isThreadRetired?: boolean;
};

/** Where the backend says how a turn ended. */
const TURN_REPORT_META = 'io.bridge/turn';

/** Understands the answer to a turn, whatever it is. */
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

/** A turn that could not be had. */
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

/** The part of the agent's text that the registry keeps, without secrets. */
export const lastTextPatch = ({text}: TurnReport): {readonly last_text?: string} =>
	text === '' ? {} : {last_text: redactStart(text, MAX_LAST_TEXT)};

/** A turn that nobody has told the end of. */
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
