import {parseAddress} from '../atm/names.js';
import {stateFolder} from '../atm/paths.js';
import type {AtmConfig} from '../atm/types.js';
import type {JsonObject} from '../protocol/json.js';
import {holderOfAnyCase, holderOfToken} from '../sessions/identity-locks.js';
import {lookAtTeam, teamsIn} from '../sessions/look.js';
import {Refusal} from '../sessions/refusal.js';
import {codexIdIn, isTokenOf} from '../sessions/session-token.js';
import {livenessOf} from '../store/owner.js';
import {textOf} from './arguments.js';
import {impersonation} from './callers.js';
import {findTeam} from './roster.js';
import type {Caller, MailToolsOptions} from './tools.js';
import type {Member} from './types.js';

export type ProvenCallerOptions = Pick<AtmConfig, 'base' | 'claude' | 'team' | 'identity'> & {
	/** The token of the session that this process was started for. */
	readonly token: string | undefined;
};

/**
 * Checks for each call to `bridge atm-tools` whether it may use its identity. A token proves its session while that session
 * is live. Without a token, the identity must not belong to a live session, a teammate in Claude Code or a lead.
 */
export const provenCaller =
	(options: ProvenCallerOptions): MailToolsOptions['callerOf'] =>
	async (_tool, args, meta) => {
		const threadId = typeof meta.threadId === 'string' ? meta.threadId : undefined;
		const session = options.token === undefined ? undefined : await sessionOf(options.token, options);
		if (session) return asSession({...session, threadId}, options.identity, args);
		try {
			await checkUnproven(options, args);
		} catch (error) {
			// Codex sends the id of the calling thread.
			const actor = error instanceof Refusal ? await sessionOfThread(threadId, options) : undefined;
			throw actor ? (error as Refusal).by(actor) : error;
		}
		return {identity: options.identity, threadId};
	};

function asSession(session: Caller, identity: string, args: JsonObject): Caller {
	const names = [identity, textOf(args, 'identity') ?? identity];
	const other = names.find(each => each !== session.identity);
	if (other !== undefined) throw impersonation(session.identity, other).by(session);
	return session;
}

async function checkUnproven(options: ProvenCallerOptions, args: JsonObject): Promise<void> {
	const {identity, team, token} = options;
	if (token !== undefined) throw expired(identity);
	const named = textOf(args, 'identity') ?? identity;
	if (named !== identity) throw impersonation(identity, named);
	for (const each of new Set([team, ...recipientTeams(args, team)])) await checkFree(identity, each, options);
}

/** The live session that a token proves: by its identity lock, or by its entry on the roster where nothing else is on disk. */
async function sessionOf(
	token: string,
	{base, claude, team}: ProvenCallerOptions,
): Promise<Caller | undefined> {
	const members = (await findTeam(claude, team))?.members ?? [];
	const holder = await holderOfToken(stateFolder(base, team), token);
	const identity =
		holder?.identity ?? members.find(each => isLive(each) && isTokenOf(each.token, token))?.name;
	if (identity === undefined) return;
	const member = members.find(({name}) => name.toLowerCase() === identity.toLowerCase());
	// The environment chooses the folder of the locks, so the roster, which decides where mail goes, must agree.
	const isOther = member?.mark !== undefined && holder !== undefined && member.mark !== holder.mark;
	return member?.isClaude || isOther ? undefined : {identity, codexId: holder?.codexId ?? codexIdIn(token)};
}

async function sessionOfThread(
	threadId: string | undefined,
	{base, team}: ProvenCallerOptions,
): Promise<Caller | undefined> {
	if (threadId === undefined) return;
	const views = await Promise.all((await teamsIn(base, team)).map(name => lookAtTeam(base, name)));
	const entries = views.flatMap(view => view.entries);
	const entry = entries.find(({status, thread_id: thread}) => status === 'active' && thread === threadId);
	return entry && {identity: entry.identity, codexId: entry.codex_id, threadId};
}

/** The teams that a message may go to, in any argument of its tool: identities of their members must not be used either. */
function recipientTeams(args: JsonObject, own: string): string[] {
	const [to, team] = [textOf(args, 'to'), textOf(args, 'team')];
	return [...(to === undefined ? [] : [parseAddress(to, own).team]), ...(team === undefined ? [] : [team])];
}

async function checkFree(identity: string, team: string, {base, claude}: ProvenCallerOptions): Promise<void> {
	const holder = await holderOfAnyCase(stateFolder(base, team), identity);
	if (holder) throw taken(identity, team, `the session ${holder.codexId}`);
	const members = (await findTeam(claude, team))?.members ?? [];
	const member = members.find(
		each => each.name.toLowerCase() === identity.toLowerCase() && (each.isClaude || isLive(each)),
	);
	if (!member) return;
	const who = member.isLead ? 'the lead' : member.isClaude ? 'a teammate in Claude Code' : 'a live session';
	throw taken(identity, team, who);
}

const isLive = ({mark}: Member): boolean => mark !== undefined && livenessOf(mark) !== 'dead';

const taken = (identity: string, team: string, who: string): Refusal =>
	new Refusal(
		'identity_conflict',
		`The identity ${identity} of the team ${team} belongs to ${who}, and this process has no token that proves it. Use the mail tools of that session, or another identity.`,
		{identity, team, claimed_identity: identity},
	);

const expired = (identity: string): Refusal =>
	new Refusal(
		'session_closed',
		`The session of ${identity} that these mail tools were started for has ended, so its identity cannot be used. Resume the session with codex and its codex_id.`,
		{identity},
	);
