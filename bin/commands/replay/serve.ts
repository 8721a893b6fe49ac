import {writeSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {formatListenAddress, type ListenAddress} from '../../../lib/config/listen-address.js';
import {resolveConfig} from '../../../lib/config/resolve-config.js';
import {logBug} from '../../../lib/core/log.js';
import {PendingRequests} from '../../../lib/core/requests/pending.js';
import {connect} from '../../../lib/core/stage.js';
import {admitOwnUser} from '../../../lib/gateway/admit-own-user.js';
import {Gateway} from '../../../lib/gateway/gateway.js';
import {GatewayRequestHandler} from '../../../lib/gateway/request-handler.js';
import {addressOf, listenHttp, stopListening} from '../../../lib/http/server.js';
import {ExchangeIndex} from '../../../lib/replay/exchange-index.js';
import {messagesSeenBy} from '../../../lib/replay/message-sides.js';
import {selectConnections} from '../../../lib/replay/recording.js';
import {ServerPlayer} from '../../../lib/replay/server-player.js';
import {viewPage} from '../../../lib/run-time-files.js';
import {stdioEndpoint} from '../../../lib/transports/stdio/stdio.js';
import {conversationStarter} from '../../../lib/upstream/start-conversation.js';
import {gatewayStages} from '../../../pipelines/gateway.js';
import {wrapStages} from '../../../pipelines/wrap.js';
import type {CliContext} from '../../shared/cli/command.js';
import {explainWait} from '../../shared/explain-wait.js';
import {usageError} from '../../shared/flag-values.js';
import {createLazyRunner} from '../../shared/lazy-runner.js';
import {localAccess} from '../../shared/local-access.js';
import {checkTrafficLog, createObservers, logStdioFailure, type Observers} from '../../shared/observers.js';
import type {StopSignals} from '../../shared/stop-signals.js';
import {waitForPending} from '../../shared/wait-for-pending.js';
import {createProgressBar, openRecording, warnIncomplete} from './open-recording.js';
import type {ReplayFlags} from './options.js';

/** The time limit for pending responses after the client closes its end. */
const GRACE_MS = 2500;

export async function runReplayServe(path: string, flags: ReplayFlags, context: CliContext): Promise<number> {
	const recording = await openRecording(path, flags, createProgressBar());
	const {side = 'client', timing = 'fast', ignore, strict, listen: address} = flags;
	const connections = selectConnections(recording, flags.conn, ({messages}) => messages.length > 0);
	const name = connections[0]?.server ?? 'recording';
	const conversations = connections.map(({messages}) => messagesSeenBy(side, messages));
	const exchanges = new ExchangeIndex(recording, conversations, {ignored: ignore, isStrict: strict});
	await checkTrafficLog(flags);
	const observers = createObservers(flags);
	warnIncomplete(recording, observers.log);
	const open = (): ServerPlayer => new ServerPlayer({name, exchanges, timing, log: observers.log});
	try {
		return address
			? await serveHttp(address, open, observers, context)
			: await serveStdio(name, open, observers, context.stop);
	} finally {
		await observers.close();
		recording.close();
	}
}

async function serveStdio(
	name: string,
	open: () => ServerPlayer,
	{log, trace, createTaps}: Observers,
	stop: StopSignals,
): Promise<number> {
	explainWait('Waiting for an MCP client on stdin.');
	const client = stdioEndpoint();
	const player = open();
	const taps = createTaps(client.name, name);
	const pending = new PendingRequests();
	const stages = wrapStages({
		log,
		upstream: name,
		transport: 'recording',
		timeoutMs: 0,
		trace,
		taps,
		pending,
	});
	connect(client, stages, player, error => logBug(log, error));
	await Promise.race([client.inputEnded, client.disconnected, stop.requested]);
	const graceTimeout = sleep(GRACE_MS, undefined, {ref: false});
	await Promise.race([waitForPending(pending), client.disconnected, stop.requested, graceTimeout]);
	await player.close();
	await Promise.race([client.close(), stop.forced]);
	taps?.closed('client');
	return logStdioFailure(client, log) ? 1 : 0;
}

async function serveHttp(
	address: ListenAddress,
	open: () => ServerPlayer,
	{log, trace, createLiveTaps, live, stderr, droppedLines}: Observers,
	{stop, version}: CliContext,
): Promise<number> {
	const {config} = resolveConfig({listen: formatListenAddress(address)}, process.cwd());
	if (!config)
		throw usageError(
			`--listen ${formatListenAddress(address)} cannot be used.`,
			'Write --listen 127.0.0.1:7411.',
		);
	const maxBytes = config.limits.messageBytes;
	const access = await localAccess(process.env);
	const userToken = access.by === 'token' ? access.token : undefined;
	const gateway = new Gateway({
		userToken,
		config,
		log,
		live,
		createRunner: createLazyRunner,
		version,
		page: viewPage,
		startConversation: conversationStarter({
			stages: gatewayStages,
			log,
			maxBytes,
			trace,
			taps: createLiveTaps,
		}),
		onStderr: (_server, chunk) => stderr.write(chunk),
		droppedLogLines: droppedLines,
		openAllServices: open,
	});
	const {handle, upgrade, openResponses} = new GatewayRequestHandler(gateway);
	const server = await listenHttp({
		...address,
		handle,
		upgrade,
		admit: admitOwnUser(gateway),
		addressRemedy: 'Use another address: --listen ADDRESS:PORT (port 0 for any free port).',
		onBug: error => logBug(log, error),
	});
	const {host, port} = addressOf(server);
	printText(`bridge replay serves the recorded server at http://${host}:${port}/mcp\n`);
	if (access.by === 'token') printText(`  Clients need the token in ${access.file}, as X-Bridge-Token\n`);
	await stop.requested;
	stopListening(server);
	const deadline = Promise.race([sleep(GRACE_MS, undefined, {ref: false}), stop.forced]);
	await gateway.close(deadline);
	await Promise.race([openResponses.flushed(), deadline]);
	server.closeAllConnections();
	return 0;
}

function printText(text: string): void {
	try {
		writeSync(1, text);
	} catch {
		// Stdout is closed, so there is no reader.
	}
}
