import process from 'node:process';
import type {JsonObject} from '../../util/json.js';
import {printable, shortened} from '../../util/printable.js';
import type {CodexSession} from '../sessions/codex-session.js';
import type {CodexSessions} from '../sessions/codex-sessions.js';
import {remoteIdentityConflict} from '../sessions/identity.js';
import {findIdentityOwner} from '../sessions/identity-locks.js';
import {ToolError} from '../sessions/tool-error.js';
import {mailTextArgument} from './tool-arguments.js';
import type {MailCaller, MailToolsOptions} from './tools.js';

/**
 * Determines the identity whose mail a call to `bridge serve` uses. A call of a session always has the
 * session's identity. Any other call must specify an identity of this process.
 */
export const sessionCallerResolver =
	(sessions: CodexSessions): MailToolsOptions['resolveCaller'] =>
	async (tool, args, meta) => {
		const claimed = mailTextArgument(args, 'identity');
		const session = findSession(sessions, args, meta);
		if (session) return sessionCaller(session, claimed);
		if (claimed === undefined) throw identityRequiredError(tool, sessions);
		const owner = sessions.live.find(({identity}) => identity === claimed);
		if (owner) return sessionCaller(owner, claimed);
		const {identity} = sessions.config;
		if (claimed !== identity) throw unknownIdentityError(claimed, sessions);
		const lockOwner = await findIdentityOwner(sessions.registry.folder, identity);
		if (lockOwner && lockOwner.pid !== process.pid)
			throw remoteIdentityConflict(identity, lockOwner.codexId, lockOwner.pid);
		return {identity};
	};

/**
 * Finds the session that calls or that the arguments refer to. An unknown `threadId` in `_meta` belongs to
 * the client itself.
 */
function findSession(
	sessions: CodexSessions,
	args: JsonObject,
	{threadId}: JsonObject,
): CodexSession | undefined {
	const ref = mailTextArgument(args, 'codex_id') ?? mailTextArgument(args, 'threadId');
	if (ref === undefined) return sessions.findByThread(threadId);
	const session = sessions.findLive(ref);
	if (session) return session;
	const {codex_id: codexId, identity} = sessions.requireEntry(ref);
	const message = `The session ${codexId} (${identity}) is not active in this bridge serve, so its mail cannot be used here.`;
	throw new ToolError('session_closed', message, {codex_id: codexId, identity});
}

function sessionCaller({identity, codexId, threadId}: CodexSession, claimed: string | undefined): MailCaller {
	const caller = {identity, codexId, threadId: threadId ?? undefined};
	if (claimed !== undefined && claimed !== identity)
		throw impersonationError(identity, claimed).setActor(caller);
	return caller;
}

export const impersonationError = (identity: string, claimed: string): ToolError =>
	new ToolError(
		'identity_conflict',
		`This session is ${identity} and cannot send or read mail as another identity (${quotedName(claimed)}). Omit identity.`,
		{identity, claimed_identity: shortened(claimed)},
	);

const identityRequiredError = (tool: string, sessions: CodexSessions): ToolError =>
	new ToolError(
		'identity_required',
		`${tool} requires identity, because the call does not come from a session. ${identityChoices(sessions)}`,
		{tool},
	);

const unknownIdentityError = (claimed: string, sessions: CodexSessions): ToolError =>
	new ToolError(
		'identity_conflict',
		`The identity ${quotedName(claimed)} does not belong to this bridge serve. ${identityChoices(sessions)}`,
		{identity: shortened(claimed)},
	);

const quotedName = (name: string): string => printable(JSON.stringify(shortened(name)));

const identityChoices = ({live, config}: CodexSessions): string =>
	`Available identities: ${[...new Set([...live.map(({identity}) => identity), config.identity])].join(', ')}.`;
