import {childStderr} from '../../lib/child-stderr.js';
import {logBug} from '../../lib/log.js';
import {ClientPlayer} from '../../lib/replay/client-player.js';
import type {ProgressBar} from '../../lib/replay/progress.js';
import {chosen, type Recording} from '../../lib/replay/recording.js';
import {isSame, summary} from '../../lib/replay/report.js';
import {refuseRedacted} from '../../lib/replay/secrets.js';
import {hasTwoSides, seenFrom} from '../../lib/replay/sides.js';
import {NewRecording} from '../../lib/replay/update.js';
import {connect, type Endpoint} from '../../lib/stage.js';
import type {Recorded, RecordedConnection} from '../../lib/store/recorded.js';
import {child} from '../../lib/transports/child.js';
import {overUrl} from '../../lib/transports/over-url.js';
import {sweepOrphans} from '../../lib/transports/sweep.js';
import {replay as replayStages} from '../../pipelines/replay.js';
import {wrap} from '../../pipelines/wrap.js';
import {type Context, defineCommand} from '../cli/command.js';
import {TIMEOUT_FLAG} from '../cli/options.js';
import {checkLog, type Observers, observers} from '../common/observers.js';
import {serverEnvironment} from '../common/server-environment.js';
import {serverName} from '../common/server-name.js';
import type {Stop} from '../common/signals.js';
import {checkReplay} from '../replay/check.js';
import {openRecording, ownBar, tellFlaws} from '../replay/log.js';
import {type ReplayFlags as Flags, options} from '../replay/options.js';
import {finishUpdate, Report, writeReport} from '../replay/report.js';

const TIMEOUT_MS = 60_000;

export const command = defineCommand({
	summary: 'recorded traffic against a live server, or as the server of a live client',
	usage: [
		[
			'bridge replay LOG [flags] -- COMMAND [ARGS…]',
			'sends to a server what the recorded client sent, and compares the responses',
		],
		['bridge replay LOG [flags] --url URL', 'the same with a server elsewhere'],
		[
			'bridge replay LOG --serve [--listen ADDR]',
			'plays the recorded server, on stdio, or over HTTP at http://ADDR/mcp',
		],
		['bridge replay LOG --raw --url tcp://HOST:PORT', 'bytes of a log of bridge raw, to a socket'],
		['bridge replay LOG --raw --serve --listen ADDR', 'the other way round'],
	],
	details: `LOG is a file that --log has written, or a folder of such files. Messages are sent in the order of the recording, each after the
responses that came before it; requests of the server get the recorded responses. Times, ids and tokens may differ.`,
	options,
	maxWords: 1,
	takesServer: true,
	unexpected: () => 'Name one log: a file, or a folder of files.',
	examples: [
		'bridge --log session.ndjson -- npx -y @modelcontextprotocol/server-everything     records one',
		'bridge replay session.ndjson -- npx -y @modelcontextprotocol/server-everything    replays it',
		'bridge replay session.ndjson --serve                                              plays that server',
	],
	exitCodes:
		'0 all responses were the same, 1 some were not, or the server could not be reached, 2 wrong arguments',
	run: ({words, server, options}, context) =>
		replay(checkReplay(words, server, options), server, options, context),
});

/** A recorded client in front of a live server, or a recorded server behind a live client. */
async function replay(
	path: string,
	server: readonly string[],
	flags: Flags,
	context: Context,
): Promise<number> {
	const {stop} = context;
	if (flags.raw) {
		const {runReplayRaw} = await import('../replay/raw.js');
		return runReplayRaw(path, flags, stop);
	}
	if (flags.serve) {
		const {runReplayServe} = await import('../replay/serve.js');
		return runReplayServe(path, flags, context);
	}
	const update = flags.update ? await NewRecording.beside(path) : undefined;
	try {
		return await againstServer(
			{path, server, update, flags: update ? {...flags, log: {file: update.path}} : flags},
			stop,
		);
	} finally {
		await update?.forget();
	}
}

type Given = {
	readonly path: string;
	readonly server: readonly string[];
	readonly flags: Flags;
	readonly update: NewRecording | undefined;
};

async function againstServer({path, server, flags, update}: Given, stop: Stop): Promise<number> {
	const bar = ownBar();
	const recording = await openRecording(path, flags, bar);
	const {side = 'client', set: given, junit: reportFile} = flags;
	const connections = chosen(recording, flags.conn, ({messages}) => messages.length > 0);
	for (const {messages} of connections) refuseRedacted(recording, seenFrom(side, messages), given);
	await update?.keepOthers(new Set(connections.map(({id}) => id)));
	await checkLog(flags);
	const watchers = observers(flags);
	tellFlaws(recording, watchers.log);
	if (connections.some(({messages}) => standsBetween(flags, messages)))
		watchers.log.info('replay.sides', STANDS_BETWEEN);
	const swept = sweepOrphans(watchers.log);
	const report = new Report(bar, reportFile !== undefined);
	try {
		for (const connection of connections) {
			report.begin(`${connection.server} ${connection.id}`);
			const ended = await replayOne(connection, {recording, flags, server, report, bar}, watchers, stop);
			if (ended === 'stopped') return 1;
			if (ended !== undefined) await report.say([`  ${ended}`, '']);
		}
	} finally {
		bar.clear();
		recording.close();
		await swept();
		await watchers.close();
	}
	if (reportFile !== undefined) await writeReport(reportFile, report.suites);
	await report.say([summary(report.counts, report.seconds)]);
	if (!update) return isSame(report.counts) ? 0 : 1;
	return finishUpdate(update, report);
}

const STANDS_BETWEEN =
	'bridge changed messages on their way when this was recorded, so it stands between the two again. --side upstream replays to the server itself what it heard then.';

/** Whether the client had bridge in front of a program when it was recorded, and needs it to hear the same again. */
const standsBetween = ({side, url}: Flags, messages: readonly Recorded[]): boolean =>
	side === undefined && url === undefined && hasTwoSides(messages);

type Replaying = {
	readonly recording: Recording;
	readonly flags: Flags;
	readonly server: readonly string[];
	readonly report: Report;
	readonly bar: ProgressBar;
};

/** Replays one connection. Resolves to why it ended early, if it did. */
async function replayOne(
	{messages: all}: RecordedConnection,
	{recording, flags, server, report, bar}: Replaying,
	watchers: Observers,
	stop: Stop,
): Promise<string | undefined> {
	const {log, trace, taps: tapsFor} = watchers;
	const {side = 'client', timing = 'fast', set: given, ignore: ignored, strict: isStrict} = flags;
	const messages = seenFrom(side, all);
	const timeoutMs = flags.timeout ?? TIMEOUT_MS;
	const {upstream, failed} = liveServer(server, flags, watchers);
	const player = new ClientPlayer({
		recording,
		messages,
		timing,
		given,
		rules: {ignored, isStrict},
		timeoutMs,
		onOutcome: outcome => report.add(outcome),
		onStep: done => bar.show('Replaying', done, messages.length),
	});
	const taps = tapsFor(player.name, upstream.name);
	const stages = standsBetween(flags, all)
		? wrap({
				log,
				trace,
				taps,
				upstream: upstream.name,
				transport: 'stdio',
				timeoutMs,
				timeoutSetting: TIMEOUT_FLAG,
			})
		: replayStages({log, trace, taps});
	const link = connect(player, stages, upstream, error => logBug(log, error));
	try {
		const played = player.play().then(() => player.failure);
		return await Promise.race([played, failed, stop.asked.then(() => 'stopped')]);
	} finally {
		await Promise.race([upstream.close(), stop.urged]);
		link.unsubscribe();
		taps?.closed('client');
	}
}

/** The server to talk to, and what is rejected if it cannot be started. */
function liveServer(
	server: readonly string[],
	flags: Flags,
	{log, stderr}: Observers,
): {readonly upstream: Endpoint; readonly failed: Promise<never>} {
	const {url, header: headers} = flags;
	if (url) {
		const upstream = overUrl({name: url.host, url, log, headers: () => headers});
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
