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
/** The silence after which a client that sent less than recorded is assumed to be waiting for a response. */
const SILENCE_MS = 500;
const MAX_CONNECTIONS = 1024;

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

/** Replays recorded clients to a live target, one after the other, and compares its responses. */
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
	const {offset, recorded, live} = difference;
	return [
		`✗ ${id} response differs from byte ${offset}: ${bytes}`,
		`    - ${recorded || '(the end)'}`,
		`    + ${live || '(the end)'}`,
	];
}

/** Serves recorded targets to clients: one recorded connection per client, in turn. */
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
						log.info(
							'replay.raw.other',
							`A client sent different bytes than the client of ${connection.id}.`,
							{
								at: difference.offset,
							},
						);
				},
				error => logBug(log, error),
			);
		},
		onDropped: () => log.warn('raw.connections_full', 'Too many connections. New ones are closed.'),
	}).catch(error => {
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			`Cannot listen: ${(error as Error).message}.`,
			'Use another address with --listen, or port 0 for any free port.',
		);
	});
	await printLines([`bridge replay serves recorded bytes at ${listen?.host}:${portOf(server)}`]);
	await stop.requested;
	server.close();
	return 0;
}

const printLines = (lines: readonly string[]): Promise<void> => {
	const hasColor = process.stdout.isTTY === true && !process.env.NO_COLOR;
	return writeText(process.stdout, `${(hasColor ? lines.map(colorize) : lines).join('\n')}\n`);
};

const unreachableError = (url: URL | undefined): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${url?.host} cannot be reached.`,
		'Check that a server listens there.',
	);
