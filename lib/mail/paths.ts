import {join} from 'node:path';
import {checkName} from '../atm/names.js';

/** Where Claude Code has its teams. */
export const teamsFolder = (claude: string): string => join(claude, 'teams');

/** A team's folder. Names are checked here once more: whatever is wrong with one would lead elsewhere. */
export const teamFolder = (claude: string, team: string): string =>
	join(teamsFolder(claude), checkName(team, 'team'));

export const rosterPath = (claude: string, team: string): string =>
	join(teamFolder(claude, team), 'config.json');

export const inboxFolder = (claude: string, team: string): string =>
	join(teamFolder(claude, team), 'inboxes');

export const inboxPath = (claude: string, team: string, agent: string): string =>
	join(inboxFolder(claude, team), `${checkName(agent, 'agent')}.json`);
