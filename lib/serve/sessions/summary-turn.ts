import {randomUUID} from 'node:crypto';
import type {Log} from '../../core/log.js';
import type {CodexSession} from './codex-session.js';
import type {SessionSummaries} from './session-summaries.js';
import {SUMMARY_TURN} from './turn-queue.js';
import type {TurnReport} from './turn-report.js';
import type {TurnRequest} from './turn-run.js';
import type {SessionEntry} from './types.js';

const SUMMARY_PROMPT = [
	'This session is about to be closed. Write a compact summary from which you or another agent can continue later:',
	'what you worked on, what is done and what is not, open issues and blockers, and the next steps.',
	'Name files, branches and commands exactly. Do not run anything and do not change any file. Reply with the summary only.',
].join(' ');

/** Formats a summary for the prompt or instructions of a resumed session. */
export const formatSummary = ({identity, repo_name, branch}: SessionEntry, summary: string): string =>
	[
		`--- Summary of your previous session (identity ${identity}, repository ${repo_name ?? 'none'}, branch ${branch ?? 'none'}) begins ---`,
		summary.trim(),
		'--- Summary of your previous session ends ---',
	].join('\n');

/** The turn that requests a summary. Its result is saved, not sent to a client. */
export const summaryTurnRequest = (session: CodexSession): TurnRequest => ({
	session,
	turn: SUMMARY_TURN,
	tool: 'codex-reply',
	arguments: {prompt: SUMMARY_PROMPT},
	prompt: SUMMARY_PROMPT,
	correlationId: randomUUID(),
	respond: () => {},
});

/** Saves the summary of a completed turn and returns whether it was saved. Otherwise keeps an earlier one. */
export async function saveSummary(
	{identity, threadId, codexId}: CodexSession,
	{status, text}: TurnReport,
	{summaries, log}: {readonly summaries: SessionSummaries; readonly log: Log},
): Promise<boolean> {
	if (status !== 'completed' || text.trim() === '' || threadId === null) return false;
	try {
		await summaries.write(identity, threadId, text);
		return true;
	} catch (error) {
		const sentence = `The summary of ${identity} could not be written: ${(error as Error).message}.`;
		log.error('summary.not_saved', sentence, {codex_id: codexId, thread_id: threadId});
		return false;
	}
}
