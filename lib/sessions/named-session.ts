import type {ReplyCall, ResumeCall} from './call-arguments.js';
import {Refusal} from './refusal.js';
import type {Sessions} from './sessions.js';
import type {SessionEntry} from './types.js';

/** Rejects ids of one call that name different sessions. */
export function checkOne(sessions: Pick<Sessions, 'known'>, {ref, others}: ReplyCall): void {
	if (others.length === 0) return;
	const {codex_id: codexId, identity} = sessions.known(ref);
	const other = others.find(each => sessions.known(each).codex_id !== codexId);
	if (other === undefined) return;
	throw new Refusal(
		'invalid_params',
		`codex_id and threadId name different sessions: ${JSON.stringify(other.slice(0, 200))} does not belong to ${codexId} (${identity}). Send one of the two.`,
		{codex_id: codexId, identity},
	);
}

/** Rejects an identity that the session does not have. */
export function checkSame(call: ReplyCall | ResumeCall, entry: SessionEntry): void {
	if (call.kind !== 'resume' || call.identity === undefined || call.identity === entry.identity) return;
	throw new Refusal(
		'invalid_params',
		`The session ${entry.codex_id} has the identity ${entry.identity}, not ${call.identity.slice(0, 100)}. Leave identity out to go on with it.`,
		{codex_id: entry.codex_id, identity: entry.identity},
	);
}

/** The error for a reply to a closed session. */
export const closed = ({codex_id: codexId, identity}: SessionEntry): Refusal =>
	new Refusal(
		'session_closed',
		`The session ${codexId} (${identity}) is closed. Resume it with codex and codex_id ${codexId}, or begin a new one with identity ${identity}.`,
		{codex_id: codexId, identity},
	);
