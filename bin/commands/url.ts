import {setTimeout as sleep} from 'node:timers/promises';
import type {Envelope} from '../../lib/envelope.js';
import {handshakeLimit} from '../../lib/handshake-limit.js';
import {type Log, logBug} from '../../lib/log.js';
import {MESSAGE_LIMIT} from '../../lib/operators/frame.js';
import {noteTools} from '../../lib/operators/note-tools.js';
import {objectOf} from '../../lib/protocol/json.js';
import {Session} from '../../lib/protocol/session.js';
import {ToolParameters} from '../../lib/protocol/tool-parameters.js';
import {connect, type Endpoint, perMessage, type Stage} from '../../lib/stage.js';
import {ToolsCache} from '../../lib/tools-cache.js';
import {ownStdio} from '../../lib/transports/own-stdio.js';
import {remote} from '../../lib/transports/remote.js';
import {WaitingRequests} from '../../lib/waiting-requests.js';
import {httpHop, wrap} from '../../pipelines/wrap.js';
import {defineCommand} from '../cli/command.js';
import type {Options, Values} from '../cli/option.js';
import {cacheTools, logOptions, TIMEOUT_FLAG, timeout, urlOptions, versionOptions} from '../cli/options.js';
import {checkLog, failed, observers} from '../common/observers.js';
import {explainWait} from '../common/on-terminal.js';
import type {Stop} from '../common/signals.js';
import {invalid} from '../common/values.js';

const TIMEOUT_MS = 60_000;
/** How long a client that closed its end may still be answered. */
const GRACE_MS = 4000;
const POLL_MS = 10;

const options = {...urlOptions, ...logOptions, ...versionOptions, timeout, cacheTools} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'own stdio in front of a server elsewhere',
	usage: [['bridge [flags] --url URL']],
	options,
	examples: ['bridge --url https://example.com/mcp --header "X-Api-Key: $KEY"'],
	exitCodes: '0 the client closed its end, 1 the server could not be used, 2 wrong arguments',
	run({options: {url, ...flags}}, {stop}) {
		if (!url) throw invalid('--url has no value.', 'Write --url URL.');
		explainWait(
			`Waiting for an MCP client on stdin, in front of ${url.host}. To see what a server offers: bridge versions --url URL`,
		);
		return forwardTo(url, flags, stop);
	},
});

/** This process's stdio in front of a server elsewhere. */
async function forwardTo(url: URL, flags: Omit<Flags, 'url'>, stop: Stop): Promise<number> {
	await checkLog(flags);
	const {log, trace, taps: tapsFor, close} = observers(flags);
	const name = url.host;
	const {clientVersion, targetVersion, header: headers} = flags;
	const session = new Session({upstream: name, clientVersion, targetVersion});
	const state = {isFailed: false};
	const waiting = new WaitingRequests();
	const parameters = new ToolParameters();
	const transport = transportOf(url);
	const timeoutMs = flags.timeout ?? TIMEOUT_MS;
	const handshakeMs = handshakeLimit(timeoutMs);
	const onRenewed = (...renewal: Parameters<Session['renewed']>): void => session.renewed(...renewal);
	const upstream = openUpstream(url, flags, log, session, () => {
		state.isFailed = true;
	});
	session.holds = id => upstream.holds?.(id) ?? false;
	const client = ownStdio();
	const taps = tapsFor(client.name, name);
	const stages = [
		...wrap({
			log,
			upstream: name,
			transport,
			trace,
			taps,
			session,
			waiting,
			timeoutMs,
			timeoutSetting: TIMEOUT_FLAG,
			first: [noteTools({parameters})],
			cacheTools: flags.cacheTools ? new ToolsCache({server: name, log}) : undefined,
		}),
		...(transport === 'http'
			? httpHop({session, upstream: name, log, headers, onRenewed, parameters, handshakeMs})
			: []),
		noteUse(session, state),
	];
	const allSaid = new Promise<void>(resolve => {
		const outgoing = {next: upstream.outgoing.next, error: () => resolve(), complete: () => resolve()};
		connect(client, stages, {...upstream, outgoing}, error => logBug(log, error));
	});
	try {
		await Promise.race([client.ended, client.gone, stop.asked]);
		const answered = allSaid.then(() => allAnswered(waiting));
		await Promise.race([answered, client.gone, stop.asked, sleep(GRACE_MS, undefined, {ref: false})]);
		await Promise.race([upstream.close(), stop.urged]);
		await Promise.race([client.close(), stop.urged]);
		taps?.closed('client');
		return failed(client, log) || state.isFailed ? 1 : 0;
	} finally {
		await close();
	}
}

/** The endpoint that connects to the server. */
function openUpstream(
	url: URL,
	flags: Omit<Flags, 'url'>,
	log: Log,
	session: Session,
	onLoss: () => void,
): Endpoint {
	return remote({
		name: url.host,
		url,
		log,
		transport: transportOf(url),
		maxBytes: MESSAGE_LIMIT,
		isGuessed: true,
		headers: () => flags.header,
		ownId: () => session.ownId(),
		again: (...said) => session.translate(...said),
		onRevived: (...renewal) => session.renewed(...renewal),
		onSse: () => {
			session.transport = 'sse';
		},
		onLoss,
		handshakeMs: handshakeLimit(flags.timeout ?? TIMEOUT_MS),
	});
}

const transportOf = (url: URL): 'http' | 'ws' => (url.protocol.startsWith('ws') ? 'ws' : 'http');

/** Takes note of whether the server was of use when it was last asked: it could be reached, and accepted the handshake. */
const noteUse = (session: Session, state: {isFailed: boolean}): Stage =>
	perMessage({
		toClient(envelope) {
			const {isReceived, head} = envelope;
			// Also an error response of the server, until it accepts a later attempt at the handshake.
			const isRejected = head.hasError && !session.isReady;
			if (isReceived && !isRejected) state.isFailed = false;
			else if (head.hasError && (isRejected || isUnreached(envelope))) state.isFailed = true;
			return envelope;
		},
	});

const isUnreached = ({body}: Envelope): boolean =>
	objectOf(objectOf(body.error).data).connection === 'failed';

async function allAnswered(waiting: WaitingRequests): Promise<void> {
	while (waiting.areAwaited) await sleep(POLL_MS);
}
