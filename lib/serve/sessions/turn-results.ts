import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {shortened} from '../../util/printable.js';
import {lostTurnError} from './codex-exited-error.js';
import type {CodexSession} from './codex-session.js';
import {ToolError, toolErrorCodes} from './tool-error.js';
import type {TurnRejectionReason, TurnStopReason} from './turn-queue.js';
import type {DeclinedApproval, TurnReport} from './turn-report.js';

/** How much of its earlier context a resumed session has. */
export type ResumeResult = {
	/** `thread`: all of it. `summary`: the saved summary, in a new thread. `none`: nothing. */
	readonly context: 'thread' | 'summary' | 'none';
	readonly previousThreadId: string | null;
};

type ResultAdditions = {
	readonly resumed?: ResumeResult | undefined;
	readonly notice?: string | undefined;
};

/** Builds the tool result of a turn: Codex's result with session ids and notes. */
export function turnResult(
	{result, text, declined, isThreadRetired}: TurnReport,
	session: CodexSession,
	{resumed, notice}: ResultAdditions = {},
): JsonObject {
	const {identity} = session;
	const idFields = codexIdFields(session);
	const newThreadAdvice = `codex-reply with codex_id ${idFields.codex_id} continues in a new thread without the context of this one.`;
	const lines = [
		...(idFields.codex_id === undefined ? [] : [`codex_id: ${idFields.codex_id}`]),
		...(resumed ? [resumeText(resumed)] : []),
		...(notice === undefined ? [] : [notice]),
		...(isThreadRetired && idFields.codex_id !== undefined ? [newThreadAdvice] : []),
		...declinedLines(declined),
	];
	const error = {code: toolErrorCodes.turn_failed, kind: 'turn_failed', message: text, ...idFields, identity};
	return {
		...result,
		content: [
			...listOf(result.content),
			...(lines.length === 0 ? [] : [{type: 'text', text: lines.join('\n')}]),
		],
		structuredContent: {
			...objectOf(result.structuredContent),
			...idFields,
			identity,
			...(result.isError === true ? {error} : {}),
			...(resumed ? {resumed: {context: resumed.context, previous_thread_id: resumed.previousThreadId}} : {}),
			...(notice === undefined ? {} : {notice}),
			...(declined.length === 0 ? {} : {declined}),
		},
	};
}

function declinedLines(declined: readonly DeclinedApproval[]): string[] {
	const [first] = declined;
	if (!first) return [];
	const subject = declined.length === 1 ? 'An approval was' : `${declined.length} approvals were`;
	return [
		`${subject} declined without asking the user, since ${first.reason}:`,
		...declined.map(({message}) => `- ${shortened(message)}`),
		'To allow this, use a client with elicitation, or another approval-policy or sandbox.',
	];
}

/** The codex id, or nothing: a session without a thread does not persist. */
const codexIdFields = ({codexId, threadId}: CodexSession): {readonly codex_id?: string} =>
	threadId === null ? {} : {codex_id: codexId};

const resumeTexts: {readonly [context in ResumeResult['context']]: string} = {
	thread: 'resumed: Codex has the whole thread',
	summary: 'resumed: the old thread can no longer be used, so a new one was started with its saved summary',
	none: 'resumed: the old thread can no longer be used and no summary of it was saved, so a new one was started without context',
};

const resumeText = ({context, previousThreadId}: ResumeResult): string =>
	`${resumeTexts[context]}${context === 'thread' || previousThreadId === null ? '' : ` (previous thread ${previousThreadId})`}`;

/** Builds the error result of a turn that was stopped. */
export function stoppedTurnResult(
	reason: TurnStopReason,
	{text, commands}: TurnReport,
	session: CodexSession,
	timeoutMs: number,
): JsonObject {
	const {codexId, identity} = session;
	const running = commands.map(command => `\`${shortened(command)}\``).join(', ');
	const commandsNote =
		commands.length === 0 ? '' : ` Commands that it had started may still run: ${running}.`;
	const partialNote = `${text === '' ? 'It had no output yet.' : `Its output until then:\n\n${text}\n\n`}${commandsNote}`;
	const details = {
		...codexIdFields(session),
		identity,
		thread_id: session.threadId,
		partial: text,
		...(commands.length === 0 ? {} : {commands}),
	};
	const hasThread = session.threadId !== null;
	const resumeAdvice = hasThread
		? `codex-reply with codex_id ${codexId} continues from there.`
		: 'No session was started.';
	if (reason === 'timeout')
		return toolErrorResult(
			'timeout',
			`The turn of ${identity} took longer than ${timeoutMs / 1000} s and was stopped. ${partialNote} ${resumeAdvice}`,
			{...details, timeout_secs: timeoutMs / 1000},
		);
	if (reason === 'cancelled')
		return toolErrorResult(
			'cancelled',
			`The turn of ${identity} was cancelled. ${partialNote} ${resumeAdvice}`,
			details,
		);
	const closedSentence = hasThread
		? `The session ${codexId} (${identity}) was closed while this turn ran. ${partialNote} codex with codex_id ${codexId} resumes it.`
		: `The session of ${identity} was closed before its first turn started.`;
	return toolErrorResult('session_closed', closedSentence, details);
}

/** Builds the error result of a turn that did not run, or that Codex's exit interrupted. */
export function rejectedTurnResult(
	reason: TurnRejectionReason,
	session: CodexSession,
	exitError: ToolError | undefined,
	partialText = '',
): JsonObject {
	const {codexId, identity} = session;
	const details = {...(reason === 'closed' ? codexIdFields(session) : {codex_id: codexId}), identity};
	const limit = session.turnQueue.limit;
	switch (reason) {
		case 'gone':
			return lostTurnError(
				exitError ?? new ToolError('child_dead', 'Codex has exited.'),
				session,
				partialText,
			).result;
		case 'closed':
			return toolErrorResult(
				'session_closed',
				session.threadId === null
					? `The session of ${identity} did not start, so this turn was not run. Start one with codex.`
					: `The session ${codexId} (${identity}) is closed, so this turn was not run. codex with codex_id ${codexId} resumes it.`,
				details,
			);
		case 'full':
			return toolErrorResult(
				'overloaded',
				`The queue of the session ${codexId} (${identity}) is full with ${limit} turns. Retry when one has ended.`,
				{...details, limit},
			);
		case 'cancelled':
			return toolErrorResult(
				'cancelled',
				`This turn of ${identity} was cancelled before it started.`,
				details,
			);
	}
}

const toolErrorResult = (kind: ToolError['kind'], sentences: string, details: JsonObject): JsonObject =>
	new ToolError(kind, sentences.trim(), details).result;
