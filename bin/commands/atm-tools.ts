import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {auditFolder} from '../../lib/atm/paths.js';
import type {AtmConfig} from '../../lib/atm/types.js';
import {logBug} from '../../lib/log.js';
import {mailOf} from '../../lib/mail/mail.js';
import {provenCaller} from '../../lib/mail/proven-caller.js';
import {mailToolSchemas} from '../../lib/mail/tool-schemas.js';
import {toolServer} from '../../lib/mail/tool-server.js';
import {mailTools} from '../../lib/mail/tools.js';
import {Audit} from '../../lib/sessions/audit-file.js';
import {Journal} from '../../lib/sessions/journal.js';
import {OwnTools} from '../../lib/sessions/own-tool.js';
import {TOKEN_VARIABLE} from '../../lib/sessions/session-token.js';
import {connect} from '../../lib/stage.js';
import {ownStdio} from '../../lib/transports/own-stdio.js';
import {WaitingRequests} from '../../lib/waiting-requests.js';
import {atmTools as atmToolsStages} from '../../pipelines/atm-tools.js';
import {defineCommand} from '../cli/command.js';
import type {Options, Values} from '../cli/option.js';
import {logOptions, sessionOptions, versionOptions} from '../cli/options.js';
import {allAnswered} from '../common/all-answered.js';
import {atmConfig} from '../common/atm-config.js';
import {failed, type Observers, observed} from '../common/observers.js';
import {explainWait} from '../common/on-terminal.js';
import type {Stop} from '../common/signals.js';
import {invalid} from '../common/values.js';

/** How long a client that closed its end may still be answered. */
const GRACE_MS = 2500;

const options = {
	...sessionOptions,
	...logOptions,
	clientVersion: versionOptions.clientVersion,
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'mail tools for one agent, as an MCP server on stdio',
	usage: [['bridge atm-tools --identity NAME [--team TEAM] [--config FILE]']],
	details: `It has the tools atm_send, atm_read, atm_broadcast and atm_pending_count, all in the name of NAME. bridge serve puts it into the
configuration of each session that it starts, if the team exists, so that a Codex agent can write to its teammates;
atm_tools = false in [plugins.codex-mcp] leaves it out.

A session proves with the token in BRIDGE_SESSION_TOKEN, which bridge serve sets, that it has the identity NAME. Without a token, NAME
must not belong to a live session, a teammate in Claude Code or a lead.`,
	options,
	examples: ['codex mcp add atm -- bridge atm-tools --identity arch-ctm --team my-team'],
	exitCodes: '0 the client closed its end, 1 stdin or stdout failed, 2 wrong arguments',
	run: ({options}, {stop, version}) => serveMail(options, stop, version),
});

async function serveMail(flags: Flags, stop: Stop, version: string): Promise<number> {
	const {identity} = flags;
	if (identity === undefined)
		throw invalid(
			'bridge atm-tools has no identity.',
			'Name the agent: bridge atm-tools --identity NAME --team TEAM',
		);
	const {config, warnings} = await atmConfig(flags);
	return observed(flags, warnings, watchers => serve(config, flags, watchers, stop, version));
}

async function serve(
	config: AtmConfig,
	flags: Flags,
	{log, trace, taps: tapsFor}: Observers,
	stop: Stop,
	version: string,
): Promise<number> {
	const {identity, team, base, auditFsync} = config;
	const token = process.env[TOKEN_VARIABLE]?.trim() || undefined;
	delete process.env[TOKEN_VARIABLE];
	const audit = await Audit.open({folder: auditFolder(base), log, fsync: auditFsync});
	const journal = new Journal(audit, team);
	const own = mailTools({mail: mailOf(config), journal, callerOf: provenCaller({...config, token})});
	const tools = new OwnTools({tools: own, schemas: mailToolSchemas(false), journal, log});
	explainWait('Waiting for an MCP client on stdin.');
	const client = ownStdio();
	const taps = tapsFor(client.name, 'atm-tools');
	const waiting = new WaitingRequests();
	const stages = atmToolsStages({log, trace, taps, waiting, clientVersion: flags.clientVersion});
	const server = toolServer({tools, identity, team, version});
	connect(client, stages, server, error => logBug(log, error));
	await Promise.race([client.ended, client.gone, stop.asked]);
	const late = sleep(GRACE_MS, undefined, {ref: false});
	await Promise.race([allAnswered(waiting), client.gone, stop.asked, late]);
	await Promise.race([client.close(), stop.urged]);
	await Promise.race([tools.settled(), stop.urged]);
	await audit.close();
	taps?.closed('client');
	return failed(client, log) ? 1 : 0;
}
