import type {CodexSessions} from './codex-sessions.js';
import type {ReplyCall, ResumeCall} from './parse-codex-call.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

/** Rejects ids of one call that name different sessions. */
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

/** Rejects an identity that the session does not have. */
export function assertIdentityMatches(call: ReplyCall | ResumeCall, entry: SessionEntry): void {
	if (call.kind !== 'resume' || call.identity === undefined || call.identity === entry.identity) return;
	throw new ToolError(
		'invalid_params',
		`The session ${entry.codex_id} has the identity ${entry.identity}, not ${call.identity.slice(0, 100)}. Leave identity out to go on with it.`,
		{codex_id: entry.codex_id, identity: entry.identity},
	);
}

/** The error for a reply to a closed session. */
export const sessionClosedError = ({codex_id: codexId, identity}: SessionEntry): ToolError =>
	new ToolError(
		'session_closed',
		`The session ${codexId} (${identity}) is closed. Resume it with codex and codex_id ${codexId}, or begin a new one with identity ${identity}.`,
		{codex_id: codexId, identity},
	);
