import {logBug} from '../../lib/core/log.js';
import {connect, type Endpoint} from '../../lib/core/stage.js';
import {ClientPlayer} from '../../lib/replay/client-player.js';
import {hasUpstreamSide, messagesSeenBy} from '../../lib/replay/message-sides.js';
import {type Recording, selectConnections} from '../../lib/replay/recording.js';
import {ReplacementRecording} from '../../lib/replay/replacement-recording.js';
import {formatReportSummary, isAllSame} from '../../lib/replay/report.js';
import {rejectMissingSecrets} from '../../lib/replay/secret-values.js';
import type {RecordedConnection, RecordedMessage} from '../../lib/traffic-log/log-contents.js';
import {child} from '../../lib/transports/process/child.js';
import {sweepOrphans} from '../../lib/transports/process/sweep-orphans.js';
import {standaloneUpstream} from '../../lib/upstream/standalone.js';
import {replayStages} from '../../pipelines/replay.js';
import {wrapStages} from '../../pipelines/wrap.js';
import {childStderr} from '../shared/child-stderr.js';
import {type CliContext, defineCommand} from '../shared/cli/command.js';
import {TIMEOUT_FLAG} from '../shared/cli/options.js';
import {checkTrafficLog, createObservers, type Observers} from '../shared/observers.js';
import {serverEnvironment} from '../shared/server-environment.js';
import {serverName} from '../shared/server-name.js';
import type {StopSignals} from '../shared/stop-signals.js';
import {checkReplayFlags} from './replay/check-flags.js';
import {createProgressBar, openRecording, warnIncomplete} from './replay/open-recording.js';
import {type ReplayFlags as Flags, replayOptions} from './replay/options.js';
import type {ProgressBar} from './replay/progress-bar.js';
import {finishUpdate, ReplayReport, writeReport} from './replay/report.js';

const TIMEOUT_MS = 60_000;

export const command = defineCommand({
	summary: 'replays recorded traffic to a live server, or serves it to a live client',
	usage: [
		[
			'bridge replay LOG [flags] -- COMMAND [ARGS…]',
			'sends to a server what the recorded client sent, and compares the responses',
		],
		['bridge replay LOG [flags] --url URL', 'the same with a remote server'],
		[
			'bridge replay LOG --serve [--listen ADDR]',
			'serves the recording on stdio, or over HTTP at http://ADDR/mcp',
		],
		[
			'bridge replay LOG --raw --url tcp://HOST:PORT',
			'sends the client bytes of a bridge raw log to a socket',
		],
		['bridge replay LOG --raw --serve --listen ADDR', 'sends the server bytes to connecting clients'],
	],
	details: `LOG is a file written by --log, or a folder of such files. Messages are sent in the order of the recording, each after the
responses that came before it; server requests get the recorded responses. Times, ids and tokens may differ.`,
	options: replayOptions,
	maxPositionals: 1,
	takesUpstreamCommand: true,
	unexpectedRemedy: () => 'Pass one log: a file, or a folder of files.',
	examples: [
		'bridge --log session.ndjson -- npx -y @modelcontextprotocol/server-everything     records one',
		'bridge replay session.ndjson -- npx -y @modelcontextprotocol/server-everything    replays it',
		'bridge replay session.ndjson --serve                                              plays that server',
	],
	exitCodes:
		'0 all responses were the same, 1 some differed, or the server was unreachable, 2 invalid arguments',
	run: ({positionals: words, upstreamCommand, options}, context) =>
		replay(checkReplayFlags(words, upstreamCommand, options), upstreamCommand, options, context),
});

/** Replays a recorded client against a live server, or a recorded server to live clients. */
async function replay(
	path: string,
	server: readonly string[],
	flags: Flags,
	context: CliContext,
): Promise<number> {
	const {stop} = context;
	if (flags.raw) {
		const {runReplayRaw} = await import('./replay/raw.js');
		return runReplayRaw(path, flags, stop);
	}
	if (flags.serve) {
		const {runReplayServe} = await import('./replay/serve.js');
		return runReplayServe(path, flags, context);
	}
	const update = flags.update ? await ReplacementRecording.create(path) : undefined;
	try {
		return await replayAgainstServer(
			{path, server, update, flags: update ? {...flags, log: {file: update.path}} : flags},
			stop,
		);
	} finally {
		await update?.discard();
	}
}

type ReplayRun = {
	readonly path: string;
	readonly server: readonly string[];
	readonly flags: Flags;
	readonly update: ReplacementRecording | undefined;
};

async function replayAgainstServer(
	{path, server, flags, update}: ReplayRun,
	stop: StopSignals,
): Promise<number> {
	const bar = createProgressBar();
	const recording = await openRecording(path, flags, bar);
	const {side = 'client', set: secrets, junit: reportFile} = flags;
	const connections = selectConnections(recording, flags.conn, ({messages}) => messages.length > 0);
	for (const {messages} of connections)
		rejectMissingSecrets(recording, messagesSeenBy(side, messages), secrets);
	await update?.copyOtherConnections(new Set(connections.map(({id}) => id)));
	await checkTrafficLog(flags);
	const observers = createObservers(flags);
	warnIncomplete(recording, observers.log);
	if (connections.some(({messages}) => needsBridgeStages(flags, messages)))
		observers.log.info('replay.sides', BRIDGE_STAGES_NOTE);
	const swept = sweepOrphans(observers.log);
	const report = new ReplayReport(bar, reportFile !== undefined);
	try {
		for (const connection of connections) {
			report.begin(`${connection.server} ${connection.id}`);
			const ended = await replayOne(connection, {recording, flags, server, report, bar}, observers, stop);
			if (ended === 'stopped') return 1;
			if (ended !== undefined) await report.print([`  ${ended}`, '']);
		}
	} finally {
		bar.clear();
		recording.close();
		await swept();
		await observers.close();
	}
	if (reportFile !== undefined) await writeReport(reportFile, report.suites);
	await report.print([formatReportSummary(report.counts, report.seconds)]);
	if (!update) return isAllSame(report.counts) ? 0 : 1;
	return finishUpdate(update, report);
}

const BRIDGE_STAGES_NOTE =
	'bridge translated messages when this was recorded, so it translates them again. --side upstream replays the translated messages to the server without bridge.';

/**
 * Returns whether bridge wrapped the server in the recording, so that its stages are needed for the same
 * messages.
 */
const needsBridgeStages = ({side, url}: Flags, messages: readonly RecordedMessage[]): boolean =>
	side === undefined && url === undefined && hasUpstreamSide(messages);

type ReplayContext = {
	readonly recording: Recording;
	readonly flags: Flags;
	readonly server: readonly string[];
	readonly report: ReplayReport;
	readonly bar: ProgressBar;
};

/** Replays one connection. Resolves to the reason if it ended early. */
async function replayOne(
	{messages: all}: RecordedConnection,
	{recording, flags, server, report, bar}: ReplayContext,
	observers: Observers,
	stop: StopSignals,
): Promise<string | undefined> {
	const {log, trace, createTaps} = observers;
	const {side = 'client', timing = 'fast', set: secrets, ignore, strict} = flags;
	const messages = messagesSeenBy(side, all);
	const timeoutMs = flags.timeout ?? TIMEOUT_MS;
	const {upstream, failed} = connectUpstream(server, flags, observers);
	const player = new ClientPlayer({
		recording,
		messages,
		timing,
		secretValues: secrets,
		rules: {ignored: ignore, isStrict: strict},
		timeoutMs,
		onOutcome: outcome => report.add(outcome),
		onStep: done => bar.show('Replaying', done, messages.length),
	});
	const taps = createTaps(player.name, upstream.name);
	const stages = needsBridgeStages(flags, all)
		? wrapStages({
				log,
				trace,
				taps,
				upstream: upstream.name,
				transport: 'stdio',
				timeoutMs,
				timeoutSetting: TIMEOUT_FLAG,
			})
		: replayStages({log, trace, taps});
	const subscription = connect(player, stages, upstream, error => logBug(log, error));
	try {
		const played = player.play().then(() => player.failure);
		return await Promise.race([played, failed, stop.requested.then(() => 'stopped')]);
	} finally {
		await Promise.race([upstream.close(), stop.forced]);
		subscription.unsubscribe();
		taps?.closed('client');
	}
}

/** Connects to the live server. `failed` rejects if it cannot be started. */
function connectUpstream(
	server: readonly string[],
	flags: Flags,
	{log, stderr}: Observers,
): {readonly upstream: Endpoint; readonly failed: Promise<never>} {
	const {url, header: headers} = flags;
	if (url) {
		const upstream = standaloneUpstream({name: url.host, url, log, headers: () => headers});
		return {upstream, failed: new Promise(() => {})};
	}
	const [command = '', ...args] = server;
	const name = serverName(server);
	const upstream = child({name, command, args, ...serverEnvironment(flags), onStderr: childStderr(stderr)});
	const failed = new Promise<never>((_resolve, reject) => {
		upstream.exited.catch(reject);
	});
	failed.catch(() => {});
	return {upstream, failed};
}
