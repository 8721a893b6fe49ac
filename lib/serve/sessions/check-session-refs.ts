import type {CodexSessions} from './codex-sessions.js';
import type {ReplyCall, ResumeCall} from './parse-codex-call.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

/** Rejects a call whose ids belong to different sessions. */
export function assertSameSession(
	sessions: Pick<CodexSessions, 'requireEntry'>,
	{ref, otherRefs}: ReplyCall,
): void {
	if (otherRefs.length === 0) return;
	const {codex_id: codexId, identity} = sessions.requireEntry(ref);
	const mismatch = otherRefs.find(each => sessions.requireEntry(each).codex_id !== codexId);
	if (mismatch === undefined) return;
	throw new ToolError(
		'invalid_params',
		`codex_id and threadId name different sessions: ${JSON.stringify(mismatch.slice(0, 200))} does not belong to ${codexId} (${identity}). Send one of the two.`,
		{codex_id: codexId, identity},
	);
}

/** Rejects a resume call whose identity is not that of the session. */
export function assertIdentityMatches(call: ReplyCall | ResumeCall, entry: SessionEntry): void {
	if (call.kind !== 'resume' || call.identity === undefined || call.identity === entry.identity) return;
	throw new ToolError(
		'invalid_params',
		`The session ${entry.codex_id} has the identity ${entry.identity}, not ${call.identity.slice(0, 100)}. Omit identity to continue the session.`,
		{codex_id: entry.codex_id, identity: entry.identity},
	);
}

export const sessionClosedError = ({codex_id: codexId, identity}: SessionEntry): ToolError =>
	new ToolError(
		'session_closed',
		`The session ${codexId} (${identity}) is closed. Resume it with codex and codex_id ${codexId}, or start a new one with identity ${identity}.`,
		{codex_id: codexId, identity},
	);
