import {readdir} from 'node:fs/promises';
import {BridgeError} from '../../core/errors.js';
import {isObject, type JsonObject, listOf} from '../../util/json.js';
import {isSafeName} from '../names.js';
import {IncompleteFileError} from './edit-inbox.js';
import {rosterPath, teamFolder, teamsFolder} from './paths.js';
import {SharedFile} from './shared-file.js';
import type {MailTeam, TeamMember} from './types.js';

export const rosterFile = (claude: string, team: string): SharedFile =>
	new SharedFile(rosterPath(claude, team), teamFolder(claude, team));

/** Reads a team. Resolves to undefined if it does not exist. */
export async function findTeam(claude: string, name: string): Promise<MailTeam | undefined> {
	return rosterFile(claude, name).read(bytes => bytes && parseTeam(name, parseRoster(bytes)));
}

function parseTeam(name: string, roster: JsonObject): MailTeam {
	const members = parseMembers(roster);
	return {name, members, skipped: listOf(roster.members).length - members.length};
}

/** A warning about ignored entries, or undefined if there are none. */
export const skippedEntriesWarning = (claude: string, {name, skipped}: MailTeam): string | undefined =>
	skipped === 0
		? undefined
		: `${rosterPath(claude, name)} has ${skipped} ${skipped === 1 ? 'entry' : 'entries'} without a valid name in its members. bridge ignores ${skipped === 1 ? 'it' : 'them'}. Correct or remove ${skipped === 1 ? 'it' : 'them'}.`;

/** Reads a team. Rejects if it does not exist, with the existing teams in the error. */
export async function readTeam(claude: string, name: string): Promise<MailTeam> {
	const team = await findTeam(claude, name);
	if (team) return team;
	const names = await listTeamNames(claude);
	const [teamList, remedy] =
		names.length === 0
			? ['That folder has no teams.', 'Create the team in Claude Code first.']
			: [`Existing teams: ${names.join(', ')}.`, 'Use one of them, or create the team in Claude Code first.'];
	throw new BridgeError(
		'ERR_MAIL_ADDRESS',
		`There is no team ${name} in ${teamsFolder(claude)}. ${teamList}`,
		remedy,
		{team: name, teams: names.join(', ')},
	);
}

export async function listTeamNames(claude: string): Promise<string[]> {
	const items = await readdir(teamsFolder(claude), {withFileTypes: true}).catch(() => []);
	return items
		.filter(item => !item.isFile() && isSafeName(item.name))
		.map(({name}) => name)
		.sort();
}

export function parseRoster(bytes: Buffer): JsonObject {
	let roster: unknown;
	try {
		roster = JSON.parse(bytes.toString());
	} catch {
		throw new IncompleteFileError(bytes.length === 0 ? 'it is empty' : 'it is not valid JSON');
	}
	if (!isObject(roster) || !Array.isArray(roster.members))
		throw new IncompleteFileError('its members are not a JSON array');
	return roster;
}

/** The members of a roster. Entries whose name could not be the name of an inbox are ignored. */
export const parseMembers = ({members, leadAgentId}: JsonObject): TeamMember[] =>
	listOf(members)
		.filter(isObject)
		.filter(
			(member): member is JsonObject & {name: string} =>
				typeof member.name === 'string' && isSafeName(member.name),
		)
		.map(({name, agentId, backendType, isActive, bridgeProcess, bridgeToken}): TeamMember => {
			const isLead = agentId !== undefined && agentId === leadAgentId;
			return {
				name,
				agentId: asString(agentId),
				isLead,
				isClaude: isLead || backendType === 'tmux' || backendType === 'in-process',
				isActive: isActive === true,
				mark: asString(bridgeProcess),
				hashedToken: asString(bridgeToken),
			};
		});

const asString = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
