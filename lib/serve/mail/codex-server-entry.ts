import process from 'node:process';
import type {JsonObject} from '../../util/json.js';
import {addMcpServers} from '../codex/bridge-entries.js';
import type {ServeConfig} from '../config/types.js';
import {SESSION_TOKEN_VARIABLE, sessionToken} from '../sessions/session-token.js';
import {findTeam} from './roster.js';

/** What the server is called in Codex: its tools are `mcp__atm__atm_send` and so on. */
const SERVER_NAME = 'atm';
const STARTUP_TIMEOUT_SECS = 60;

/** How to run a session's mail tools: this program again, with the session's identity. */
type MailServerOptions = {
	/** This program. */
	readonly script: string;
	readonly team: string;
	/** The configuration file that was named, if one was. */
	readonly configFile: string | undefined;
	readonly inboxFormat: ServeConfig['inboxFormat'];
	readonly env: NodeJS.ProcessEnv;
};

/** The session that a server of mail tools is for. */
export type MailServerSession = {readonly identity: string; readonly codexId: string};

/** The entry of the server in Codex's configuration. */
export function mailServerEntry(
	options: MailServerOptions,
	{identity, codexId}: MailServerSession,
): JsonObject {
	const {script, team, configFile, inboxFormat, env} = options;
	const file = configFile ?? env.ATM_CONFIG?.trim();
	// Codex hands nothing else of its environment to a server.
	const forwardedVariables = ['ATM_HOME', 'CLAUDE_CONFIG_DIR'].filter(name => env[name]?.trim());
	return {
		command: process.execPath,
		args: [script, 'atm-tools', '--identity', identity, '--team', team, ...(file ? ['--config', file] : [])],
		env: {
			...Object.fromEntries(forwardedVariables.map(name => [name, env[name]])),
			ATM_AGENT_MCP_INBOX_FORMAT: inboxFormat,
			// Only this server gets it: Codex does not pass it on to the commands that it runs.
			[SESSION_TOKEN_VARIABLE]: sessionToken(codexId),
		},
		// Else the first turn may run without it, and no tool that writes may be called where nobody can be asked.
		required: true,
		startup_timeout_sec: STARTUP_TIMEOUT_SECS,
		default_tools_approval_mode: 'approve',
	};
}

/** The same, but only where there is a team to send mail to, and it is wanted. */
export const mailServerEntryFor =
	({claude, team, atmTools}: ServeConfig, createEntry: (session: MailServerSession) => JsonObject) =>
	async (session: MailServerSession): Promise<JsonObject | undefined> => {
		const foundTeam = atmTools ? await findTeam(claude, team).catch(() => undefined) : undefined;
		return foundTeam && createEntry(session);
	};

/** The configuration of a call with the server in it, unless the call names one of that name. */
export const withMailServer = (config: JsonObject, server: JsonObject): JsonObject =>
	addMcpServers(config, {[SERVER_NAME]: server});
