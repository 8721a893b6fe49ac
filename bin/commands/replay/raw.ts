import process from 'node:process';
import {BridgeError} from '../../../lib/core/errors.js';
import {logBug} from '../../../lib/core/log.js';
import {playRaw, type RawReplayOutcome} from '../../../lib/replay/raw-player.js';
import {type Recording, selectConnections} from '../../../lib/replay/recording.js';
import {colorize} from '../../../lib/replay/report.js';
import type {RecordedConnection} from '../../../lib/traffic-log/log-contents.js';
import {connectTcp, listenTcp, portOf, whenConnected} from '../../../lib/transports/tcp/tcp.js';
import {createStderrLog} from '../../shared/observers.js';
import {writeText} from '../../shared/output.js';
import type {StopSignals} from '../../shared/stop-signals.js';
import {createProgressBar, openRecording, warnIncomplete} from './open-recording.js';
import type {ReplayFlags} from './options.js';
import type {ProgressBar} from './progress-bar.js';

const TIMEOUT_MS = 60_000;
/** Whoever has said less than was recorded, and says no more for so long, waits for an answer. */
const SILENCE_MS = 500;
const MAX_CONNECTIONS = 1024;

/** `bridge replay LOG --raw`: bytes of recorded connections, to a socket. */
export async function runReplayRaw(path: string, flags: ReplayFlags, stop: StopSignals): Promise<number> {
	const bar = createProgressBar();
	const recording = await openRecording(path, flags, bar);
	const connections = selectConnections(recording, flags.conn, ({chunks}) => chunks.length > 0);
	const {log, stderr} = createStderrLog(flags);
	warnIncomplete(recording, log);
	try {
		const played = flags.serve
			? serveRecording(recording, connections, flags, stop)
			: replayToTarget(recording, connections, flags, bar);
		return await Promise.race([played, stop.requested.then(() => (flags.serve ? 0 : 1))]);
	} finally {
		bar.clear();
		recording.close();
		await log.flush();
		await stderr.close();
	}
}

/** Plays recorded clients to a live target, one after the other, and compares what it says. */
async function replayToTarget(
	recording: Recording,
	connections: readonly RecordedConnection[],
	{url, timeout: timeoutMs = TIMEOUT_MS, timing = 'fast'}: ReplayFlags,
	bar: ProgressBar,
): Promise<number> {
	const target = {host: url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '', port: Number(url?.port)};
	let isSame = true;
	for (const connection of connections) {
		const socket = connectTcp(target);
		socket.on('error', () => {});
		if (!(await whenConnected(socket))) throw unreachableError(url);
		const all = connection.chunks.length;
		const onStep = (done: number): void => bar.show('Replaying', done, all);
		const outcome = await playRaw(socket, {
			recording,
			connection,
			as: 'client',
			timing,
			timeoutMs,
			silenceMs: 0,
			onStep,
		});
		bar.clear();
		isSame &&= outcome.difference === undefined;
		await printLines(outcomeText(connection.id, outcome));
	}
	return isSame ? 0 : 1;
}

function outcomeText(id: string, {sentBytes, receivedBytes, difference}: RawReplayOutcome): string[] {
	const bytes = `${sentBytes} bytes sent, ${receivedBytes} received`;
	if (!difference) return [`✓ ${id} same: ${bytes}`];
	const {offset: at, recorded, live} = difference;
	return [
		`✗ ${id} different from byte ${at} of the answer on: ${bytes}`,
		`    - ${recorded || '(the end)'}`,
		`    + ${live || '(the end)'}`,
	];
}

/** Plays recorded targets to whoever connects: one recorded connection after the other, and around. */
async function serveRecording(
	recording: Recording,
	connections: readonly RecordedConnection[],
	flags: ReplayFlags,
	stop: StopSignals,
): Promise<number> {
	const {listen, timing = 'fast'} = flags;
	const {log} = createStderrLog(flags);
	let count = 0;
	const server = await listenTcp({
		host: listen?.host ?? '127.0.0.1',
		port: listen?.port ?? 0,
		maxConnections: MAX_CONNECTIONS,
		accept(socket) {
			const connection = connections[count++ % connections.length] as RecordedConnection;
			socket.on('error', () => {});
			socket.resume();
			playRaw(socket, {
				recording,
				connection,
				as: 'server',
				timing,
				timeoutMs: 0,
				silenceMs: SILENCE_MS,
			}).then(
				({difference}) => {
					if (difference)
						log.info('replay.raw.other', `A client said something else than the one of ${connection.id}.`, {
							at: difference.offset,
						});
				},
				error => logBug(log, error),
			);
		},
		onDropped: () => log.warn('raw.connections_full', 'There are too many connections; more are closed.'),
	}).catch(error => {
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`Cannot listen: ${(error as Error).message}.`,
			'Name another address with --listen, or port 0 for any that is free.',
		);
	});
	await printLines([`bridge replay plays recorded bytes at ${listen?.host}:${portOf(server)}`]);
	await stop.requested;
	server.close();
	return 0;
}

const printLines = (lines: readonly string[]): Promise<void> => {
	const hasColour = process.stdout.isTTY === true && !process.env.NO_COLOR;
	return writeText(process.stdout, `${(hasColour ? lines.map(colorize) : lines).join('\n')}\n`);
};

const unreachableError = (url: URL | undefined): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${url?.host} could not be connected to.`,
		'Check that something listens there.',
	);
