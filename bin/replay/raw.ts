import process from 'node:process';
import {BridgeError} from '../../lib/errors.js';
import {logBug} from '../../lib/log.js';
import type {ProgressBar} from '../../lib/replay/progress.js';
import {playRaw, type RawOutcome} from '../../lib/replay/raw-player.js';
import {chosen, type Recording} from '../../lib/replay/recording.js';
import {coloured} from '../../lib/replay/report.js';
import type {RecordedConnection} from '../../lib/store/recorded.js';
import {connected, listenTcp, openTcp, portOf} from '../../lib/transports/tcp.js';
import {ownLog} from '../common/observers.js';
import {write} from '../common/own-output.js';
import type {Stop} from '../common/signals.js';
import {openRecording, ownBar, tellFlaws} from './log.js';
import type {ReplayFlags} from './options.js';

const TIMEOUT_MS = 60_000;
/** Whoever has said less than was recorded, and says no more for so long, waits for an answer. */
const SILENCE_MS = 500;
const MAX_CONNECTIONS = 1024;

/** `bridge replay LOG --raw`: bytes of recorded connections, to a socket. */
export async function runReplayRaw(path: string, flags: ReplayFlags, stop: Stop): Promise<number> {
	const bar = ownBar();
	const recording = await openRecording(path, flags, bar);
	const connections = chosen(recording, flags.conn, ({chunks}) => chunks.length > 0);
	const {log, stderr} = ownLog(flags);
	tellFlaws(recording, log);
	try {
		const played = flags.serve
			? serveRaw(recording, connections, flags, stop)
			: askRaw(recording, connections, flags, bar);
		return await Promise.race([played, stop.asked.then(() => (flags.serve ? 0 : 1))]);
	} finally {
		bar.clear();
		recording.close();
		await log.flush();
		await stderr.close();
	}
}

/** Plays recorded clients to a live target, one after the other, and compares what it says. */
async function askRaw(
	recording: Recording,
	connections: readonly RecordedConnection[],
	{url, timeout: timeoutMs = TIMEOUT_MS, timing = 'fast'}: ReplayFlags,
	bar: ProgressBar,
): Promise<number> {
	const target = {host: url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '', port: Number(url?.port)};
	let isSame = true;
	for (const connection of connections) {
		const socket = openTcp(target);
		socket.on('error', () => {});
		if (!(await connected(socket))) throw unreachable(url);
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
		await say(outcomeText(connection.id, outcome));
	}
	return isSame ? 0 : 1;
}

function outcomeText(id: string, {sentBytes, receivedBytes, difference}: RawOutcome): string[] {
	const bytes = `${sentBytes} bytes sent, ${receivedBytes} received`;
	if (!difference) return [`✓ ${id} same: ${bytes}`];
	const {at, recorded, live} = difference;
	return [
		`✗ ${id} different from byte ${at} of the answer on: ${bytes}`,
		`    - ${recorded || '(the end)'}`,
		`    + ${live || '(the end)'}`,
	];
}

/** Plays recorded targets to whoever connects: one recorded connection after the other, and around. */
async function serveRaw(
	recording: Recording,
	connections: readonly RecordedConnection[],
	flags: ReplayFlags,
	stop: Stop,
): Promise<number> {
	const {listen, timing = 'fast'} = flags;
	const {log} = ownLog(flags);
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
							at: difference.at,
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
	await say([`bridge replay plays recorded bytes at ${listen?.host}:${portOf(server)}`]);
	await stop.asked;
	server.close();
	return 0;
}

const say = (lines: readonly string[]): Promise<void> => {
	const hasColour = process.stdout.isTTY === true && !process.env.NO_COLOR;
	return write(process.stdout, `${(hasColour ? lines.map(coloured) : lines).join('\n')}\n`);
};

const unreachable = (url: URL | undefined): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_UNREACHABLE',
		`${url?.host} could not be connected to.`,
		'Check that something listens there.',
	);
