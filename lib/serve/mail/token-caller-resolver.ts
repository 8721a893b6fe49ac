import {livenessOf} from '../../files/process-identity.js';
import type {JsonObject} from '../../util/json.js';
import type {ServeConfig} from '../config/types.js';
import {parseMailAddress} from '../names.js';
import {stateFolder} from '../paths.js';
import {findIdentityOwnerIgnoringCase, findTokenOwner} from '../sessions/identity-locks.js';
import {inspectTeam, listTeamFolders} from '../sessions/inspect-team.js';
import {codexIdFromToken, matchesTokenHash} from '../sessions/session-token.js';
import {ToolError} from '../sessions/tool-error.js';
import {findTeam} from './roster.js';
import {impersonationError} from './session-caller-resolver.js';
import {mailTextArgument} from './tool-arguments.js';
import type {MailCaller, MailToolsOptions} from './tools.js';
import type {TeamMember} from './types.js';

type TokenCallerOptions = Pick<ServeConfig, 'base' | 'claude' | 'team' | 'identity'> & {
	/** The token of the session that this process serves. */
	readonly token: string | undefined;
};

/**
 * Checks for each call to `bridge atm-tools` whether it may use its identity. A token proves its session
 * while that session is live. Without a token, the identity must not belong to a live session, a teammate in
 * Claude Code or a lead.
 */
export const tokenCallerResolver =
	(options: TokenCallerOptions): MailToolsOptions['resolveCaller'] =>
	async (_tool, args, meta) => {
		const threadId = typeof meta.threadId === 'string' ? meta.threadId : undefined;
		const session =
			options.token === undefined ? undefined : await findSessionByToken(options.token, options);
		if (session) return sessionCaller({...session, threadId}, options.identity, args);
		try {
			await checkWithoutToken(options, args);
		} catch (error) {
			// Codex sends the id of the calling thread.
			const actor = error instanceof ToolError ? await findSessionByThread(threadId, options) : undefined;
			throw actor ? (error as ToolError).setActor(actor) : error;
		}
		return {identity: options.identity, threadId};
	};

function sessionCaller(session: MailCaller, identity: string, args: JsonObject): MailCaller {
	const names = [identity, mailTextArgument(args, 'identity') ?? identity];
	const claimed = names.find(each => each !== session.identity);
	if (claimed !== undefined) throw impersonationError(session.identity, claimed).setActor(session);
	return session;
}

async function checkWithoutToken(options: TokenCallerOptions, args: JsonObject): Promise<void> {
	const {identity, team, token} = options;
	if (token !== undefined) throw sessionEndedError(identity);
	const claimed = mailTextArgument(args, 'identity') ?? identity;
	if (claimed !== identity) throw impersonationError(identity, claimed);
	for (const each of new Set([team, ...recipientTeams(args, team)]))
		await checkIdentityUnused(identity, each, options);
}

/** The live session that a token proves: by its identity lock, or by its roster entry if there is no lock. */
async function findSessionByToken(
	token: string,
	{base, claude, team}: TokenCallerOptions,
): Promise<MailCaller | undefined> {
	const members = (await findTeam(claude, team))?.members ?? [];
	const lockOwner = await findTokenOwner(stateFolder(base, team), token);
	const identity =
		lockOwner?.identity ??
		members.find(each => isLiveMember(each) && matchesTokenHash(each.hashedToken, token))?.name;
	if (identity === undefined) return;
	const member = members.find(({name}) => name.toLowerCase() === identity.toLowerCase());
	// The environment can set the folder of the locks, so they are not sufficient proof. The roster must not
	// contradict them.
	const isOtherProcess =
		member?.mark !== undefined && lockOwner !== undefined && member.mark !== lockOwner.mark;
	return member?.isClaude || isOtherProcess
		? undefined
		: {identity, codexId: lockOwner?.codexId ?? codexIdFromToken(token)};
}

async function findSessionByThread(
	threadId: string | undefined,
	{base, team}: TokenCallerOptions,
): Promise<MailCaller | undefined> {
	if (threadId === undefined) return;
	const views = await Promise.all((await listTeamFolders(base, team)).map(name => inspectTeam(base, name)));
	const entries = views.flatMap(view => view.entries);
	const entry = entries.find(({status, thread_id: thread}) => status === 'active' && thread === threadId);
	return entry && {identity: entry.identity, codexId: entry.codex_id, threadId};
}

/** The teams in the arguments of a call. The identity must not belong to a member of those teams either. */
function recipientTeams(args: JsonObject, ownTeam: string): string[] {
	const [to, team] = [mailTextArgument(args, 'to'), mailTextArgument(args, 'team')];
	return [
		...(to === undefined ? [] : [parseMailAddress(to, ownTeam).team]),
		...(team === undefined ? [] : [team]),
	];
}

async function checkIdentityUnused(
	identity: string,
	team: string,
	{base, claude}: TokenCallerOptions,
): Promise<void> {
	const lockOwner = await findIdentityOwnerIgnoringCase(stateFolder(base, team), identity);
	if (lockOwner) throw identityInUseError(identity, team, `the session ${lockOwner.codexId}`);
	const members = (await findTeam(claude, team))?.members ?? [];
	const member = members.find(
		each => each.name.toLowerCase() === identity.toLowerCase() && (each.isClaude || isLiveMember(each)),
	);
	if (!member) return;
	const ownerText = member.isLead
		? 'the lead'
		: member.isClaude
			? 'a teammate in Claude Code'
			: 'a live session';
	throw identityInUseError(identity, team, ownerText);
}

const isLiveMember = ({mark}: TeamMember): boolean => mark !== undefined && livenessOf(mark) !== 'dead';

const identityInUseError = (identity: string, team: string, ownerText: string): ToolError =>
	new ToolError(
		'identity_conflict',
		`The identity ${identity} of the team ${team} belongs to ${ownerText}, and this process has no token that proves it. Use the mail tools of that session, or another identity.`,
		{identity, team, claimed_identity: identity},
	);

const sessionEndedError = (identity: string): ToolError =>
	new ToolError(
		'session_closed',
		`The session of ${identity} that these mail tools were started for has ended, so its identity cannot be used. Resume the session with codex and its codex_id.`,
		{identity},
	);
