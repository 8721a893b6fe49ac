import {join} from 'node:path';
import {checkName} from '../names.js';

export const teamsFolder = (claudeFolder: string): string => join(claudeFolder, 'teams');

/**
 * The folder of a team. Checks the name again, since an invalid one could point outside of the teams folder.
 */
export const teamFolder = (claudeFolder: string, team: string): string =>
	join(teamsFolder(claudeFolder), checkName(team, 'team'));

export const rosterPath = (claudeFolder: string, team: string): string =>
	join(teamFolder(claudeFolder, team), 'config.json');

export const inboxFolder = (claudeFolder: string, team: string): string =>
	join(teamFolder(claudeFolder, team), 'inboxes');

export const inboxPath = (claudeFolder: string, team: string, agent: string): string =>
	join(inboxFolder(claudeFolder, team), `${checkName(agent, 'agent')}.json`);
