import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {auditFolder} from '../lib/atm/paths.js';
import type {AtmConfig} from '../lib/atm/types.js';
import {logBug} from '../lib/log.js';
import {mailOf} from '../lib/mail/mail.js';
import {provenCaller} from '../lib/mail/proven-caller.js';
import {toolServer} from '../lib/mail/tool-server.js';
import {mailTools} from '../lib/mail/tools.js';
import {Audit} from '../lib/sessions/audit-file.js';
import {Journal} from '../lib/sessions/journal.js';
import {OwnTools} from '../lib/sessions/own-tool.js';
import {TOKEN_VARIABLE} from '../lib/sessions/session-token.js';
import {connect} from '../lib/stage.js';
import {ownStdio} from '../lib/transports/own-stdio.js';
import {WaitingRequests} from '../lib/waiting-requests.js';
import {atmTools as atmToolsStages} from '../pipelines/atm-tools.js';
import {allAnswered} from './all-answered.js';
import type {Flags} from './flags.js';
import {failed, type Observers, observed} from './observers.js';
import {atmConfig} from './own-output.js';
import type {Stop} from './signals.js';
import {invalid} from './values.js';

/** How long a client that closed its end may still be answered. */
const GRACE_MS = 2500;

/** `bridge atm-tools`: the mail of one identity as an MCP server on this process's stdio. */
export async function runAtmTools(flags: Flags, stop: Stop, version: string): Promise<number> {
	const {identity} = flags.session;
	if (identity === undefined)
		throw invalid(
			'bridge atm-tools has to know whose mail it is.',
			'Name the agent: bridge atm-tools --identity NAME --team TEAM',
		);
	const {config, warnings} = await atmConfig(flags, flags.config);
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
	const tools = new OwnTools({tools: own, journal, log});
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
