import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {childStderr} from '../lib/child-stderr.js';
import {BridgeError} from '../lib/errors.js';
import {logBug} from '../lib/log.js';
import {ClientPlayer} from '../lib/replay/client-player.js';
import {junit, type Suite} from '../lib/replay/junit.js';
import type {Outcome} from '../lib/replay/outcome.js';
import type {ProgressBar} from '../lib/replay/progress.js';
import {chosen, type Recording} from '../lib/replay/recording.js';
import {type Counts, coloured, isSame, noCounts, outcomeLines, summary} from '../lib/replay/report.js';
import {refuseRedacted} from '../lib/replay/secrets.js';
import {hasTwoSides, seenFrom} from '../lib/replay/sides.js';
import {NewRecording} from '../lib/replay/update.js';
import {connect, type Endpoint} from '../lib/stage.js';
import {writeAtomically} from '../lib/store/atomic-file.js';
import type {Recorded, RecordedConnection} from '../lib/store/recorded.js';
import {child} from '../lib/transports/child.js';
import {overUrl} from '../lib/transports/over-url.js';
import {sweepOrphans} from '../lib/transports/sweep.js';
import {replay as replayStages} from '../pipelines/replay.js';
import {wrap} from '../pipelines/wrap.js';
import type {Flags, Invocation} from './flags.js';
import {checkLog, type Observers, observers} from './observers.js';
import {write} from './own-output.js';
import {openRecording, ownBar, tellFlaws} from './replay-log.js';
import type {ReplayGround} from './replay-serve.js';
import {checkReplay} from './replay-words.js';
import {serverName} from './server-name.js';
import type {Stop} from './signals.js';

const TIMEOUT_MS = 60_000;

/** `bridge replay LOG`: a recorded client in front of a live server, or a recorded server behind a live client. */
export async function runReplay(given: Invocation, stop: Stop, ground: ReplayGround): Promise<number> {
	const path = checkReplay(given);
	const {flags, server} = given;
	if (flags.replay.isRaw) {
		const {runReplayRaw} = await import('./replay-raw.js');
		return runReplayRaw(path, flags, stop);
	}
	if (flags.replay.isServing) {
		const {runReplayServe} = await import('./replay-serve.js');
		return runReplayServe(path, flags, stop, ground);
	}
	const update = flags.replay.isUpdating ? await NewRecording.beside(path) : undefined;
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
	readonly server: readonly string[] | undefined;
	readonly flags: Flags;
	readonly update: NewRecording | undefined;
};

async function againstServer({path, server, flags, update}: Given, stop: Stop): Promise<number> {
	const bar = ownBar();
	const recording = await openRecording(path, flags, bar);
	const {side = 'client', given, junit: reportFile} = flags.replay;
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
const standsBetween = ({replay: {side}, url}: Flags, messages: readonly Recorded[]): boolean =>
	side === undefined && url === undefined && hasTwoSides(messages);

type Replaying = {
	readonly recording: Recording;
	readonly flags: Flags;
	readonly server: readonly string[] | undefined;
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
	const {side = 'client', timing = 'fast', given, ignored, isStrict} = flags.replay;
	const messages = seenFrom(side, all);
	const timeoutMs = flags.timeoutMs ?? TIMEOUT_MS;
	const {upstream, failed} = liveServer(server, flags, watchers);
	const player = new ClientPlayer({
		...{recording, messages, timing, given, rules: {ignored, isStrict}},
		timeoutMs,
		onOutcome: outcome => report.add(outcome),
		onStep: done => bar.show('Replaying', done, messages.length),
	});
	const taps = tapsFor(player.name, upstream.name);
	const stages = standsBetween(flags, all)
		? wrap({log, trace, taps, upstream: upstream.name, transport: 'stdio', timeoutMs})
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
	server: readonly string[] | undefined,
	flags: Flags,
	{log, stderr}: Observers,
): {readonly upstream: Endpoint; readonly failed: Promise<never>} {
	const {url, headers, env} = flags;
	if (url) {
		const upstream = overUrl({name: url.host, url, log, headers: () => headers});
		return {upstream, failed: new Promise(() => {})};
	}
	const [command = '', ...args] = server ?? [];
	const name = serverName(server ?? []);
	const upstream = child({name, command, args, env, onStderr: childStderr(stderr)});
	const failed = new Promise<never>((_resolve, reject) => {
		upstream.exited.catch(reject);
	});
	failed.catch(() => {});
	return {upstream, failed};
}

/** What became of everything, told as it happens and counted. */
class Report {
	counts: Counts = noCounts;
	readonly suites: Suite[] = [];
	readonly #bar: ProgressBar;
	readonly #isKept: boolean;
	readonly #hasColour = process.stdout.isTTY === true && !process.env.NO_COLOR;
	readonly #started = performance.now();
	#outcomes: Outcome[] = [];
	#number = 0;

	constructor(bar: ProgressBar, isKept: boolean) {
		this.#bar = bar;
		this.#isKept = isKept;
	}

	get seconds(): number {
		return (performance.now() - this.#started) / 1000;
	}

	begin(name: string): void {
		this.#outcomes = [];
		this.suites.push({name, outcomes: this.#outcomes});
	}

	add(outcome: Outcome): void {
		this.#number++;
		this.counts = {...this.counts, [outcome.status]: this.counts[outcome.status] + 1};
		if (this.#isKept) this.#outcomes.push(outcome);
		const lines = outcomeLines(outcome, this.#number);
		if (lines.length > 0) void this.say(lines);
	}

	say(lines: readonly string[]): Promise<void> {
		this.#bar.clear();
		const shown = this.#hasColour ? lines.map(coloured) : lines;
		return write(process.stdout, `${shown.join('\n')}\n`);
	}
}

async function writeReport(file: string, suites: readonly Suite[]): Promise<void> {
	await writeAtomically(file, junit(suites)).catch(error => {
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`The report cannot be written: ${(error as Error).message}.`,
			'Name a file in a folder that exists.',
		);
	});
}

/** Puts the new recording in the place of the old one, if all of it was played. */
async function finishUpdate(update: NewRecording, report: Report): Promise<number> {
	if (report.counts.missed > 0) {
		await report.say(['The recording stays as it was, since the server ended before all was played.']);
		return 1;
	}
	await update.replace();
	await report.say(['The recording is updated.']);
	return 0;
}
