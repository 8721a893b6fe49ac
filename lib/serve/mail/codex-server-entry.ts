import process from 'node:process';
import type {JsonObject} from '../../util/json.js';
import {addMcpServers} from '../codex/bridge-entries.js';
import type {ServeConfig} from '../config/types.js';
import {SESSION_TOKEN_VARIABLE, sessionToken} from '../sessions/session-token.js';
import {findTeam} from './roster.js';

/** The server's name in Codex. Its tools are named `mcp__atm__atm_send` and so on. */
const SERVER_NAME = 'atm';
const STARTUP_TIMEOUT_SECS = 60;

/** How to start the mail tools of a session: `bridge atm-tools` with the identity of the session. */
type MailServerOptions = {
	/** The path of the running bridge script. */
	readonly script: string;
	readonly team: string;
	/** The configuration file from the command line, if any. */
	readonly configFile: string | undefined;
	readonly inboxFormat: ServeConfig['inboxFormat'];
	readonly env: NodeJS.ProcessEnv;
};

export type MailServerSession = {readonly identity: string; readonly codexId: string};

export function mailServerEntry(
	options: MailServerOptions,
	{identity, codexId}: MailServerSession,
): JsonObject {
	const {script, team, configFile, inboxFormat, env} = options;
	const file = configFile ?? env.ATM_CONFIG?.trim();
	// Codex passes only a few variables of its environment to a server.
	const forwardedVariables = ['ATM_HOME', 'CLAUDE_CONFIG_DIR'].filter(name => env[name]?.trim());
	return {
		command: process.execPath,
		args: [script, 'atm-tools', '--identity', identity, '--team', team, ...(file ? ['--config', file] : [])],
		env: {
			...Object.fromEntries(forwardedVariables.map(name => [name, env[name]])),
			ATM_AGENT_MCP_INBOX_FORMAT: inboxFormat,
			// Only this server gets the token: Codex does not pass it to the commands that it runs.
			[SESSION_TOKEN_VARIABLE]: sessionToken(codexId),
		},
		// Otherwise, the first turn may run without the server. Without automatic approval, a tool that writes
		// would fail if no user can approve it.
		required: true,
		startup_timeout_sec: STARTUP_TIMEOUT_SECS,
		default_tools_approval_mode: 'approve',
	};
}

/** Creates the entry only if `atm_tools` is enabled and the team exists. */
export const mailServerEntryFor =
	({claude, team, atmTools}: ServeConfig, createEntry: (session: MailServerSession) => JsonObject) =>
	async (session: MailServerSession): Promise<JsonObject | undefined> => {
		const foundTeam = atmTools ? await findTeam(claude, team).catch(() => undefined) : undefined;
		return foundTeam && createEntry(session);
	};

/** Adds the mail server to the configuration of a call, unless the call defines a server with that name. */
export const withMailServer = (config: JsonObject, server: JsonObject): JsonObject =>
	addMcpServers(config, {[SERVER_NAME]: server});
