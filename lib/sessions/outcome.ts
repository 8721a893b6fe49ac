import {shortened} from '../printable.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {lostTurn} from './death.js';
import {Refusal, refusals} from './refusal.js';
import type {Session} from './session.js';
import type {Declined, TurnReport} from './turn-report.js';
import type {RefusalReason, StopReason} from './turns.js';

/** What a session that goes on again has of what was before. */
export type Resumed = {
	/** `thread`: Codex has all of it; `summary`: what was saved at the end; `none`: nothing. */
	readonly context: 'thread' | 'summary' | 'none';
	readonly previousThreadId: string | null;
};

/** What a result has beside Codex's own. */
export type Additions = {readonly resumed?: Resumed | undefined; readonly notice?: string | undefined};

/** The result of a turn for its caller: Codex's own, and the id to go on with. */
export function turnResult(
	{result, text, declined, isThreadRetired}: TurnReport,
	session: Session,
	{resumed, notice}: Additions = {},
): JsonObject {
	const {identity} = session;
	const id = idOf(session);
	const next = `codex-reply with codex_id ${id.codex_id} goes on in a new thread, which does not have what was said in this one.`;
	const lines = [
		...(id.codex_id === undefined ? [] : [`codex_id: ${id.codex_id}`]),
		...(resumed ? [worded(resumed)] : []),
		...(notice === undefined ? [] : [notice]),
		...(isThreadRetired && id.codex_id !== undefined ? [next] : []),
		...declinedLines(declined),
	];
	const error = {code: refusals.turn_failed, kind: 'turn_failed', message: text, ...id, identity};
	return {
		...result,
		content: [
			...listOf(result.content),
			...(lines.length === 0 ? [] : [{type: 'text', text: lines.join('\n')}]),
		],
		structuredContent: {
			...objectOf(result.structuredContent),
			...id,
			identity,
			...(result.isError === true ? {error} : {}),
			...(resumed ? {resumed: {context: resumed.context, previous_thread_id: resumed.previousThreadId}} : {}),
			...(notice === undefined ? {} : {notice}),
			...(declined.length === 0 ? {} : {declined}),
		},
	};
}

/** What the caller has to know of approvals that were declined in its name. */
function declinedLines(declined: readonly Declined[]): string[] {
	const [first] = declined;
	if (!first) return [];
	const what = declined.length === 1 ? 'An approval was' : `${declined.length} approvals were`;
	return [
		`${what} declined without asking the user, since ${first.reason}:`,
		...declined.map(({message}) => `- ${shortened(message)}`),
		'Use a client with elicitation, or another approval-policy or sandbox, if Codex is to do this.',
	];
}

/** The id of a session, if there is one: without a thread it has not come about. */
const idOf = ({codexId, threadId}: Session): {readonly codex_id?: string} =>
	threadId === null ? {} : {codex_id: codexId};

const told: {readonly [context in Resumed['context']]: string} = {
	thread: 'resumed: Codex has the whole thread',
	summary: 'resumed: the old thread can no longer be used, so a new one was started with its saved summary',
	none: 'resumed: the old thread can no longer be used and no summary of it was saved, so a new one was started without context',
};

const worded = ({context, previousThreadId}: Resumed): string =>
	`${told[context]}${context === 'thread' || previousThreadId === null ? '' : ` (previous thread ${previousThreadId})`}`;

/** What the caller of a turn is told that was stopped before its end. */
export function stoppedResult(
	reason: StopReason,
	{text, commands}: TurnReport,
	session: Session,
	timeoutMs: number,
): JsonObject {
	const {codexId, identity} = session;
	const running = commands.map(command => `\`${shortened(command)}\``).join(', ');
	const left = commands.length === 0 ? '' : ` Commands that it had started may still run: ${running}.`;
	const said = `${text === '' ? 'It had said nothing yet.' : `Until then it had said:\n\n${text}\n\n`}${left}`;
	const facts = {
		...idOf(session),
		identity,
		thread_id: session.threadId,
		partial: text,
		...(commands.length === 0 ? {} : {commands}),
	};
	const hasThread = session.threadId !== null;
	const goOn = hasThread
		? `codex-reply with codex_id ${codexId} goes on from there.`
		: 'No session was started.';
	if (reason === 'timeout')
		return refusalResult(
			'timeout',
			`The turn of ${identity} took longer than ${timeoutMs / 1000} s and was stopped. ${said} ${goOn}`,
			{
				...facts,
				timeout_secs: timeoutMs / 1000,
			},
		);
	if (reason === 'cancelled')
		return refusalResult('cancelled', `The turn of ${identity} was cancelled. ${said} ${goOn}`, facts);
	const closed = hasThread
		? `The session ${codexId} (${identity}) was closed while this turn ran. ${said} codex with codex_id ${codexId} resumes it.`
		: `The session of ${identity} was closed before its first turn had begun.`;
	return refusalResult('session_closed', closed, facts);
}

/** What the caller of a turn is told that did not run. */
export function refusedResult(
	reason: RefusalReason,
	session: Session,
	death: Refusal | undefined,
	partial = '',
): JsonObject {
	const {codexId, identity} = session;
	const facts = {...(reason === 'closed' ? idOf(session) : {codex_id: codexId}), identity};
	const limit = session.turns.limit;
	switch (reason) {
		case 'gone':
			return lostTurn(death ?? new Refusal('child_dead', 'Codex has ended.'), session, partial).result;
		case 'closed':
			return refusalResult(
				'session_closed',
				session.threadId === null
					? `The session of ${identity} did not start, so this turn was not run. Start one with codex.`
					: `The session ${codexId} (${identity}) is closed, so this turn was not run. codex with codex_id ${codexId} resumes it.`,
				facts,
			);
		case 'full':
			return refusalResult(
				'overloaded',
				`${limit} turns wait for the session ${codexId} (${identity}) already. Wait for one to end.`,
				{...facts, limit},
			);
		case 'cancelled':
			return refusalResult('cancelled', `This turn of ${identity} was cancelled before it began.`, facts);
	}
}

const refusalResult = (kind: Refusal['kind'], sentences: string, facts: JsonObject): JsonObject =>
	new Refusal(kind, sentences.trim(), facts).result;
