import {setTimeout as sleep} from 'node:timers/promises';
import type {Envelope} from '../../lib/core/envelope.js';
import {type Log, logBug} from '../../lib/core/log.js';
import {PendingRequests} from '../../lib/core/requests/pending.js';
import {connect, type Endpoint, perMessage, type Stage} from '../../lib/core/stage.js';
import {ToolsCache} from '../../lib/operators/cache-tools/tools-cache.js';
import {MESSAGE_LIMIT} from '../../lib/operators/frame.js';
import {observeTools} from '../../lib/operators/observe-tools.js';
import {handshakeTimeoutMs} from '../../lib/protocol/handshake-timeout.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import {ToolHeaderParameters} from '../../lib/protocol/tool-header-parameters.js';
import {stdioEndpoint} from '../../lib/transports/stdio/stdio.js';
import {remoteUpstream} from '../../lib/upstream/remote.js';
import {objectOf} from '../../lib/util/json.js';
import {httpUpstreamStages, wrapStages} from '../../pipelines/wrap.js';
import {defineCommand} from '../shared/cli/command.js';
import type {Options, OptionValues} from '../shared/cli/option.js';
import {
	cacheToolsFlag,
	logOptions,
	TIMEOUT_FLAG,
	timeoutFlag,
	urlOptions,
	versionOptions,
} from '../shared/cli/options.js';
import {explainWait} from '../shared/explain-wait.js';
import {usageError} from '../shared/flag-values.js';
import {checkTrafficLog, createObservers, logStdioFailure} from '../shared/observers.js';
import type {StopSignals} from '../shared/stop-signals.js';

const TIMEOUT_MS = 60_000;
/** The time limit for pending responses after the client closes its end. */
const GRACE_MS = 4000;
const POLL_MS = 10;

const options = {
	...urlOptions,
	...logOptions,
	...versionOptions,
	timeout: timeoutFlag,
	cacheTools: cacheToolsFlag,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'serves a remote server on stdio',
	usage: [['bridge [flags] --url URL']],
	options,
	examples: ['bridge --url https://example.com/mcp --header "X-Api-Key: $KEY"'],
	exitCodes: '0 the client closed its end, 1 the server was not usable, 2 invalid arguments',
	run({options: {url, ...flags}}, {stop}) {
		if (!url) throw usageError('--url has no value.', 'Write --url URL.');
		explainWait(
			`Waiting for an MCP client on stdin, in front of ${url.host}. To see what a server offers: bridge versions --url URL`,
		);
		return forwardTo(url, flags, stop);
	},
});

async function forwardTo(url: URL, flags: Omit<Flags, 'url'>, stop: StopSignals): Promise<number> {
	await checkTrafficLog(flags);
	const {log, trace, createTaps, close} = createObservers(flags);
	const name = url.host;
	const {clientVersion, targetVersion, header: headers} = flags;
	const session = new Negotiation({upstream: name, clientVersion, targetVersion});
	const state = {isFailed: false};
	const pending = new PendingRequests();
	const parameters = new ToolHeaderParameters();
	const transport = transportOf(url);
	const timeoutMs = flags.timeout ?? TIMEOUT_MS;
	const handshakeMs = handshakeTimeoutMs(timeoutMs);
	const onRenewed = (...renewal: Parameters<Negotiation['reinitialized']>): void =>
		session.reinitialized(...renewal);
	const upstream = openUpstream(url, flags, log, session, () => {
		state.isFailed = true;
	});
	session.hasQueued = id => upstream.hasQueued?.(id) ?? false;
	const client = stdioEndpoint();
	const taps = createTaps(client.name, name);
	const stages = [
		...wrapStages({
			log,
			upstream: name,
			transport,
			trace,
			taps,
			negotiation: session,
			pending,
			timeoutMs,
			timeoutSetting: TIMEOUT_FLAG,
			clientStages: [observeTools({parameters})],
			cacheTools: flags.cacheTools ? new ToolsCache({upstream: name, log}) : undefined,
		}),
		...(transport === 'http'
			? httpUpstreamStages({
					negotiation: session,
					upstream: name,
					log,
					headers,
					onReinitialized: onRenewed,
					parameters,
					handshakeMs,
				})
			: []),
		trackFailure(session, state),
	];
	const clientFlushed = new Promise<void>(resolve => {
		const outgoing = {next: upstream.outgoing.next, error: () => resolve(), complete: () => resolve()};
		connect(client, stages, {...upstream, outgoing}, error => logBug(log, error));
	});
	try {
		await Promise.race([client.inputEnded, client.disconnected, stop.requested]);
		const responsesSent = clientFlushed.then(() => waitForResponses(pending));
		await Promise.race([
			responsesSent,
			client.disconnected,
			stop.requested,
			sleep(GRACE_MS, undefined, {ref: false}),
		]);
		await Promise.race([upstream.close(), stop.forced]);
		await Promise.race([client.close(), stop.forced]);
		taps?.closed('client');
		return logStdioFailure(client, log) || state.isFailed ? 1 : 0;
	} finally {
		await close();
	}
}

function openUpstream(
	url: URL,
	flags: Omit<Flags, 'url'>,
	log: Log,
	session: Negotiation,
	onLoss: () => void,
): Endpoint {
	return remoteUpstream({
		name: url.host,
		url,
		log,
		transport: transportOf(url),
		maxBytes: MESSAGE_LIMIT,
		isTransportGuessed: true,
		headers: () => flags.header,
		ownId: () => session.nextRequestId(),
		retranslate: (...args) => session.retranslate(...args),
		onReinitialized: (...renewal) => session.reinitialized(...renewal),
		onSse: () => {
			session.transport = 'sse';
		},
		onDisconnect: onLoss,
		handshakeMs: handshakeTimeoutMs(flags.timeout ?? TIMEOUT_MS),
	});
}

const transportOf = (url: URL): 'http' | 'ws' => (url.protocol.startsWith('ws') ? 'ws' : 'http');

/** Records whether the last attempt to use the server failed. A rejected handshake also counts. */
const trackFailure = (session: Negotiation, state: {isFailed: boolean}): Stage =>
	perMessage({
		toClient(envelope) {
			const {isReceived, head} = envelope;
			// An error response also counts as a failure until the server accepts a later handshake.
			const isRejected = head.hasError && !session.isReady;
			if (isReceived && !isRejected) state.isFailed = false;
			else if (head.hasError && (isRejected || isConnectionFailure(envelope))) state.isFailed = true;
			return envelope;
		},
	});

const isConnectionFailure = ({body}: Envelope): boolean =>
	objectOf(objectOf(body.error).data).connection === 'failed';

async function waitForResponses(pending: PendingRequests): Promise<void> {
	while (pending.hasPending) await sleep(POLL_MS);
}
