import {join} from 'node:path';
import {checkName} from '../names.js';

/** Where Claude Code has its teams. */
export const teamsFolder = (claudeFolder: string): string => join(claudeFolder, 'teams');

/** A team's folder. Names are checked here once more: whatever is wrong with one would lead elsewhere. */
export const teamFolder = (claudeFolder: string, team: string): string =>
	join(teamsFolder(claudeFolder), checkName(team, 'team'));

export const rosterPath = (claudeFolder: string, team: string): string =>
	join(teamFolder(claudeFolder, team), 'config.json');

export const inboxFolder = (claudeFolder: string, team: string): string =>
	join(teamFolder(claudeFolder, team), 'inboxes');

export const inboxPath = (claudeFolder: string, team: string, agent: string): string =>
	join(inboxFolder(claudeFolder, team), `${checkName(agent, 'agent')}.json`);
