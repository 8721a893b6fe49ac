import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {Refusal} from './refusal.js';
import type {Session} from './session.js';
import type {TurnReport} from './turn-report.js';
import type {RefusalReason, StopReason} from './turns.js';

/** What a session that goes on again has of what was before. */
export type Resumed = {
	/** `thread`: Codex has all of it; `summary`: what was saved at the end; `none`: nothing. */
	readonly context: 'thread' | 'summary' | 'none';
	readonly previousThreadId: string | null;
};

/** The result of a turn for its caller: Codex's own, and the id to go on with. */
export function turnResult({result}: TurnReport, session: Session, resumed?: Resumed): JsonObject {
	const {codexId, identity} = session;
	const lines = [`codex_id: ${codexId}`, ...(resumed ? [worded(resumed)] : [])];
	return {
		...result,
		content: [...listOf(result.content), {type: 'text', text: lines.join('\n')}],
		structuredContent: {
			...objectOf(result.structuredContent),
			codex_id: codexId,
			identity,
			...(resumed ? {resumed: {context: resumed.context, previous_thread_id: resumed.previousThreadId}} : {}),
		},
	};
}

const told: {readonly [context in Resumed['context']]: string} = {
	thread: 'resumed: Codex has the whole thread',
	summary: 'resumed: Codex no longer knows the old thread, so a new one was started with its saved summary',
	none: 'resumed: Codex no longer knows the old thread and no summary of it was saved, so a new one was started without context',
};

const worded = ({context, previousThreadId}: Resumed): string =>
	`${told[context]}${context === 'thread' || previousThreadId === null ? '' : ` (previous thread ${previousThreadId})`}`;

/** What the caller of a turn is told that was stopped before its end. */
export function stoppedResult(
	reason: StopReason,
	{text}: TurnReport,
	session: Session,
	timeoutMs: number,
): JsonObject {
	const {codexId, identity} = session;
	const said = text === '' ? 'It had said nothing yet.' : `Until then it had said:\n\n${text}\n\n`;
	const facts = {codex_id: codexId, identity, thread_id: session.threadId, partial: text};
	const goOn = session.threadId === null ? '' : `codex-reply with codex_id ${codexId} goes on from there.`;
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
	return refusalResult(
		'session_closed',
		`The session ${codexId} (${identity}) was closed while this turn ran. ${said} codex with codex_id ${codexId} resumes it.`,
		facts,
	);
}

/** What the caller of a turn is told that did not run. */
export function refusedResult(
	reason: RefusalReason,
	session: Session,
	death: Refusal | undefined,
): JsonObject {
	const {codexId, identity} = session;
	const facts = {codex_id: codexId, identity};
	const limit = session.turns.limit;
	switch (reason) {
		case 'gone':
			return (death ?? new Refusal('child_dead', 'Codex is gone.', facts)).with(facts).result;
		case 'closed':
			return refusalResult(
				'session_closed',
				`The session ${codexId} (${identity}) is closed, so this turn was not run. codex with codex_id ${codexId} resumes it.`,
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
