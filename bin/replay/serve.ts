import {writeSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {type Listen, listenText} from '../../lib/config/listen.js';
import {resolveConfig} from '../../lib/config/resolve.js';
import {Entrance} from '../../lib/gateway/entrance.js';
import {Gateway} from '../../lib/gateway/gateway.js';
import {ownUser} from '../../lib/gateway/own-user.js';
import {localAccess} from '../../lib/http/local-access.js';
import {addressOf, listen, stopListening} from '../../lib/http/server.js';
import {logBug} from '../../lib/log.js';
import {Library} from '../../lib/replay/library.js';
import {chosen} from '../../lib/replay/recording.js';
import {ServerPlayer} from '../../lib/replay/server-player.js';
import {seenFrom} from '../../lib/replay/sides.js';
import {viewPage} from '../../lib/run-time-files.js';
import {connect} from '../../lib/stage.js';
import {ownStdio} from '../../lib/transports/own-stdio.js';
import {WaitingRequests} from '../../lib/waiting-requests.js';
import {converseThrough} from '../../pipelines/gateway.js';
import {wrap} from '../../pipelines/wrap.js';
import type {Context} from '../cli/command.js';
import {allAnswered} from '../common/all-answered.js';
import {checkLog, failed, type Observers, observers} from '../common/observers.js';
import {explainWait} from '../common/on-terminal.js';
import {createRunner} from '../common/runner.js';
import type {Stop} from '../common/signals.js';
import {invalid} from '../common/values.js';
import {openRecording, ownBar, tellFlaws} from './log.js';
import type {ReplayFlags} from './options.js';

/** How long a client that closed its end may still be answered. */
const GRACE_MS = 2500;

/** `bridge replay LOG --serve`: a recorded server, for live clients of any version. */
export async function runReplayServe(path: string, flags: ReplayFlags, context: Context): Promise<number> {
	const recording = await openRecording(path, flags, ownBar());
	const {side = 'client', timing = 'fast', ignore: ignored, strict: isStrict, listen: address} = flags;
	const connections = chosen(recording, flags.conn, ({messages}) => messages.length > 0);
	const name = connections[0]?.server ?? 'recording';
	const conversations = connections.map(({messages}) => seenFrom(side, messages));
	const library = new Library(recording, conversations, {ignored, isStrict});
	await checkLog(flags);
	const watchers = observers(flags);
	tellFlaws(recording, watchers.log);
	const open = (): ServerPlayer => new ServerPlayer({name, library, timing, log: watchers.log});
	try {
		return address
			? await onHttp(address, open, watchers, context)
			: await onStdio(name, open, watchers, context.stop);
	} finally {
		await watchers.close();
		recording.close();
	}
}

async function onStdio(
	name: string,
	open: () => ServerPlayer,
	{log, trace, taps: tapsFor}: Observers,
	stop: Stop,
): Promise<number> {
	explainWait('Waiting for an MCP client on stdin.');
	const client = ownStdio();
	const player = open();
	const taps = tapsFor(client.name, name);
	const waiting = new WaitingRequests();
	const stages = wrap({log, upstream: name, transport: 'recording', timeoutMs: 0, trace, taps, waiting});
	connect(client, stages, player, error => logBug(log, error));
	await Promise.race([client.ended, client.gone, stop.asked]);
	const late = sleep(GRACE_MS, undefined, {ref: false});
	await Promise.race([allAnswered(waiting), client.gone, stop.asked, late]);
	await player.close();
	await Promise.race([client.close(), stop.urged]);
	taps?.closed('client');
	return failed(client, log) ? 1 : 0;
}

async function onHttp(
	address: Listen,
	open: () => ServerPlayer,
	{log, trace, liveTaps, live, stderr, leftOutLines}: Observers,
	{stop, version}: Context,
): Promise<number> {
	const {config} = resolveConfig({listen: listenText(address)}, process.cwd());
	if (!config)
		throw invalid(`--listen ${listenText(address)} cannot be used.`, 'Write --listen 127.0.0.1:7411.');
	const maxBytes = config.limits.messageBytes;
	const access = await localAccess(process.env);
	const userToken = access.by === 'token' ? access.token : undefined;
	const gateway = new Gateway({
		userToken,
		config,
		log,
		live,
		createRunner,
		version,
		page: viewPage,
		converse: converseThrough({log, maxBytes, trace, taps: liveTaps}),
		onStderr: (_server, chunk) => stderr.write(chunk),
		droppedLogLines: leftOutLines,
		all: open,
	});
	const {handle, upgrade, answers} = new Entrance(gateway);
	const server = await listen({
		...address,
		handle,
		upgrade,
		admit: ownUser(gateway),
		addressRemedy: 'Use another one: --listen ADDRESS:PORT (port 0 for any that is free).',
		onBug: error => logBug(log, error),
	});
	const {host, port} = addressOf(server);
	tell(`bridge replay plays the recorded server at http://${host}:${port}/mcp\n`);
	if (access.by === 'token') tell(`  Clients need the token in ${access.file}, as X-Bridge-Token\n`);
	await stop.asked;
	stopListening(server);
	const hurry = Promise.race([sleep(GRACE_MS, undefined, {ref: false}), stop.urged]);
	await gateway.close(hurry);
	await Promise.race([answers.flushed(), hurry]);
	server.closeAllConnections();
	return 0;
}

function tell(text: string): void {
	try {
		writeSync(1, text);
	} catch {
		// Nobody looks.
	}
}
