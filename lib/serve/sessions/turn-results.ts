import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {shortened} from '../../util/printable.js';
import {lostTurnError} from './codex-exited-error.js';
import type {CodexSession} from './codex-session.js';
import {ToolError, toolErrorCodes} from './tool-error.js';
import type {TurnRejectionReason, TurnStopReason} from './turn-queue.js';
import type {DeclinedApproval, TurnReport} from './turn-report.js';

/** What a session that goes on again has of what was before. */
export type ResumeResult = {
	/** `thread`: Codex has all of it; `summary`: what was saved at the end; `none`: nothing. */
	readonly context: 'thread' | 'summary' | 'none';
	readonly previousThreadId: string | null;
};

/** What a result has beside Codex's own. */
type ResultAdditions = {
	readonly resumed?: ResumeResult | undefined;
	readonly notice?: string | undefined;
};

/** The result of a turn for its caller: Codex's own, and the id to go on with. */
export function turnResult(
	{result, text, declined, isThreadRetired}: TurnReport,
	session: CodexSession,
	{resumed, notice}: ResultAdditions = {},
): JsonObject {
	const {identity} = session;
	const idFields = codexIdFields(session);
	const newThreadAdvice = `codex-reply with codex_id ${idFields.codex_id} goes on in a new thread, which does not have what was said in this one.`;
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

/** What the caller has to know of approvals that were declined in its name. */
function declinedLines(declined: readonly DeclinedApproval[]): string[] {
	const [first] = declined;
	if (!first) return [];
	const subject = declined.length === 1 ? 'An approval was' : `${declined.length} approvals were`;
	return [
		`${subject} declined without asking the user, since ${first.reason}:`,
		...declined.map(({message}) => `- ${shortened(message)}`),
		'Use a client with elicitation, or another approval-policy or sandbox, if Codex is to do this.',
	];
}

/** The id of a session, if there is one: without a thread it has not come about. */
const codexIdFields = ({codexId, threadId}: CodexSession): {readonly codex_id?: string} =>
	threadId === null ? {} : {codex_id: codexId};

const resumeTexts: {readonly [context in ResumeResult['context']]: string} = {
	thread: 'resumed: Codex has the whole thread',
	summary: 'resumed: the old thread can no longer be used, so a new one was started with its saved summary',
	none: 'resumed: the old thread can no longer be used and no summary of it was saved, so a new one was started without context',
};

const resumeText = ({context, previousThreadId}: ResumeResult): string =>
	`${resumeTexts[context]}${context === 'thread' || previousThreadId === null ? '' : ` (previous thread ${previousThreadId})`}`;

/** What the caller of a turn is told that was stopped before its end. */
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
	const partialNote = `${text === '' ? 'It had said nothing yet.' : `Until then it had said:\n\n${text}\n\n`}${commandsNote}`;
	const details = {
		...codexIdFields(session),
		identity,
		thread_id: session.threadId,
		partial: text,
		...(commands.length === 0 ? {} : {commands}),
	};
	const hasThread = session.threadId !== null;
	const resumeAdvice = hasThread
		? `codex-reply with codex_id ${codexId} goes on from there.`
		: 'No session was started.';
	if (reason === 'timeout')
		return toolErrorResult(
			'timeout',
			`The turn of ${identity} took longer than ${timeoutMs / 1000} s and was stopped. ${partialNote} ${resumeAdvice}`,
			{
				...details,
				timeout_secs: timeoutMs / 1000,
			},
		);
	if (reason === 'cancelled')
		return toolErrorResult(
			'cancelled',
			`The turn of ${identity} was cancelled. ${partialNote} ${resumeAdvice}`,
			details,
		);
	const closedSentence = hasThread
		? `The session ${codexId} (${identity}) was closed while this turn ran. ${partialNote} codex with codex_id ${codexId} resumes it.`
		: `The session of ${identity} was closed before its first turn had begun.`;
	return toolErrorResult('session_closed', closedSentence, details);
}

/** What the caller of a turn is told that did not run. */
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
			return lostTurnError(exitError ?? new ToolError('child_dead', 'Codex has ended.'), session, partialText)
				.result;
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
				`${limit} turns wait for the session ${codexId} (${identity}) already. Wait for one to end.`,
				{...details, limit},
			);
		case 'cancelled':
			return toolErrorResult('cancelled', `This turn of ${identity} was cancelled before it began.`, details);
	}
}

const toolErrorResult = (kind: ToolError['kind'], sentences: string, details: JsonObject): JsonObject =>
	new ToolError(kind, sentences.trim(), details).result;
