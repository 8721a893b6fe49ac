import process from 'node:process';
import {printable, shortened} from '../printable.js';
import type {JsonObject} from '../protocol/json.js';
import {conflictElsewhere} from '../sessions/identity.js';
import {holderIn} from '../sessions/identity-locks.js';
import {Refusal} from '../sessions/refusal.js';
import type {Session} from '../sessions/session.js';
import type {Sessions} from '../sessions/sessions.js';
import {textOf} from './arguments.js';
import type {Caller, MailToolsOptions} from './tools.js';

/**
 * Finds out whose mail a call to `bridge serve` is about. In the name of a session there is nothing to choose; who is none
 * has to name an identity, which must be one of this process's.
 */
export const callerAmong =
	(sessions: Sessions): MailToolsOptions['callerOf'] =>
	async (tool, args, meta) => {
		const named = textOf(args, 'identity');
		const session = sessionOf(sessions, args, meta);
		if (session) return asSession(session, named);
		if (named === undefined) throw identityRequired(tool, sessions);
		const owner = sessions.live.find(({identity}) => identity === named);
		if (owner) return asSession(owner, named);
		const {identity} = sessions.config;
		if (named !== identity) throw notOurs(named, sessions);
		const holder = await holderIn(sessions.registry.folder, identity);
		if (holder && holder.pid !== process.pid) throw conflictElsewhere(identity, holder.codexId, holder.pid);
		return {identity};
	};

/** The session that calls, or is called for. A thread that is none of ours is a client's own. */
function sessionOf(sessions: Sessions, args: JsonObject, {threadId}: JsonObject): Session | undefined {
	const ref = textOf(args, 'codex_id') ?? textOf(args, 'threadId');
	if (ref === undefined) return sessions.ofThread(threadId);
	const session = sessions.liveOne(ref);
	if (session) return session;
	const {codex_id: codexId, identity} = sessions.known(ref);
	const sentence = `The session ${codexId} (${identity}) is not active here, so nobody speaks for it.`;
	throw new Refusal('session_closed', sentence, {codex_id: codexId, identity});
}

function asSession({identity, codexId, threadId}: Session, named: string | undefined): Caller {
	const caller = {identity, codexId, threadId: threadId ?? undefined};
	if (named !== undefined && named !== identity) throw impersonation(identity, named).by(caller);
	return caller;
}

/** The error for a call that claims another identity. */
export const impersonation = (identity: string, named: string): Refusal =>
	new Refusal(
		'identity_conflict',
		`This session is ${identity}, and nobody can send or read mail as somebody else (${quoted(named)}). Leave identity out.`,
		{identity, claimed_identity: shortened(named)},
	);

const identityRequired = (tool: string, sessions: Sessions): Refusal =>
	new Refusal(
		'identity_required',
		`${tool} has to know whose mail it is, since no session calls it: give identity. ${choice(sessions)}`,
		{tool},
	);

const notOurs = (named: string, sessions: Sessions): Refusal =>
	new Refusal(
		'identity_conflict',
		`The identity ${quoted(named)} is none of this bridge serve's. ${choice(sessions)}`,
		{identity: shortened(named)},
	);

const quoted = (name: string): string => printable(JSON.stringify(shortened(name)));

/** The identities that can be named. */
const choice = ({live, config}: Sessions): string =>
	`It can be ${[...new Set([...live.map(({identity}) => identity), config.identity])].join(', ')}.`;
