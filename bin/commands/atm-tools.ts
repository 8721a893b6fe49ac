import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {logBug} from '../../lib/core/log.js';
import {PendingRequests} from '../../lib/core/requests/pending.js';
import {connect} from '../../lib/core/stage.js';
import type {ServeConfig} from '../../lib/serve/config/types.js';
import {createMail} from '../../lib/serve/mail/mail.js';
import {tokenCallerResolver} from '../../lib/serve/mail/token-caller-resolver.js';
import {mailToolSchemas} from '../../lib/serve/mail/tool-schemas.js';
import {createMailToolServer} from '../../lib/serve/mail/tool-server.js';
import {createMailTools} from '../../lib/serve/mail/tools.js';
import {auditFolder} from '../../lib/serve/paths.js';
import {AuditFile} from '../../lib/serve/sessions/audit-file.js';
import {AuditLog} from '../../lib/serve/sessions/audit-log.js';
import {BridgeTools} from '../../lib/serve/sessions/bridge-tools.js';
import {SESSION_TOKEN_VARIABLE} from '../../lib/serve/sessions/session-token.js';
import {stdioEndpoint} from '../../lib/transports/stdio/stdio.js';
import {atmToolsStages} from '../../pipelines/atm-tools.js';
import {loadAtmConfigWithFlags} from '../shared/atm-config.js';
import {defineCommand} from '../shared/cli/command.js';
import type {Options, OptionValues} from '../shared/cli/option.js';
import {logOptions, sessionOptions, versionOptions} from '../shared/cli/options.js';
import {explainWait} from '../shared/explain-wait.js';
import {usageError} from '../shared/flag-values.js';
import {logStdioFailure, type Observers, withObservers} from '../shared/observers.js';
import type {StopSignals} from '../shared/stop-signals.js';
import {waitForPending} from '../shared/wait-for-pending.js';

/** The time limit for pending responses after the client closes its end. */
const GRACE_MS = 2500;

const options = {
	...sessionOptions,
	...logOptions,
	clientVersion: versionOptions.clientVersion,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'mail tools for one agent, as an MCP server on stdio',
	usage: [['bridge atm-tools --identity NAME [--team TEAM] [--config FILE]']],
	details: `It provides the tools atm_send, atm_read, atm_broadcast and atm_pending_count, which act as NAME. bridge serve adds it to the
configuration of each session that it starts, if the team exists, so that a Codex agent can write to its teammates;
atm_tools = false in [plugins.codex-mcp] disables this.

A session proves with the token in BRIDGE_SESSION_TOKEN, which bridge serve sets, that it has the identity NAME. Without a token, NAME
must not belong to a live session, a teammate in Claude Code or a lead.`,
	options,
	examples: ['codex mcp add atm -- bridge atm-tools --identity arch-ctm --team my-team'],
	exitCodes: '0 the client closed its end, 1 stdin or stdout failed, 2 invalid arguments',
	run: ({options}, {stop, version}) => serveMail(options, stop, version),
});

async function serveMail(flags: Flags, stop: StopSignals, version: string): Promise<number> {
	const {identity} = flags;
	if (identity === undefined)
		throw usageError(
			'bridge atm-tools needs an identity.',
			'Write: bridge atm-tools --identity NAME --team TEAM',
		);
	const {config, warnings} = await loadAtmConfigWithFlags(flags);
	return withObservers(flags, warnings, observers => serve(config, flags, observers, stop, version));
}

async function serve(
	config: ServeConfig,
	flags: Flags,
	{log, trace, createTaps}: Observers,
	stop: StopSignals,
	version: string,
): Promise<number> {
	const {identity, team, base, auditFsync} = config;
	const token = process.env[SESSION_TOKEN_VARIABLE]?.trim() || undefined;
	delete process.env[SESSION_TOKEN_VARIABLE];
	const audit = await AuditFile.open({folder: auditFolder(base), log, fsync: auditFsync});
	const auditLog = new AuditLog(audit, team);
	const mailHandlers = createMailTools({
		mail: createMail(config),
		auditLog,
		resolveCaller: tokenCallerResolver({...config, token}),
	});
	const tools = new BridgeTools({
		tools: mailHandlers,
		schemas: mailToolSchemas(false),
		auditLog,
		log,
	});
	explainWait('Waiting for an MCP client on stdin.');
	const client = stdioEndpoint();
	const taps = createTaps(client.name, 'atm-tools');
	const pending = new PendingRequests();
	const stages = atmToolsStages({log, trace, taps, pending, clientVersion: flags.clientVersion});
	const server = createMailToolServer({tools, identity, team, version});
	connect(client, stages, server, error => logBug(log, error));
	await Promise.race([client.inputEnded, client.disconnected, stop.requested]);
	const graceTimeout = sleep(GRACE_MS, undefined, {ref: false});
	await Promise.race([waitForPending(pending), client.disconnected, stop.requested, graceTimeout]);
	await Promise.race([client.close(), stop.forced]);
	await Promise.race([tools.settled(), stop.forced]);
	await audit.close();
	taps?.closed('client');
	return logStdioFailure(client, log) ? 1 : 0;
}
