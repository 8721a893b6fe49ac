import {bypassWhen} from '../lib/core/bypass.js';
import {markFastPath} from '../lib/core/fast-path.js';
import type {Log} from '../lib/core/log.js';
import {PendingRequests} from '../lib/core/requests/pending.js';
import type {Stage} from '../lib/core/stage.js';
import type {UpstreamControl} from '../lib/core/upstream-control.js';
import type {ToolsCache} from '../lib/operators/cache-tools/tools-cache.js';
import {cacheTools} from '../lib/operators/cache-tools.js';
import {controlUpstream} from '../lib/operators/control-upstream.js';
import {MESSAGE_LIMIT} from '../lib/operators/frame.js';
import {type InjectSessionOptions, injectSession} from '../lib/operators/inject-session.js';
import {matchResponses} from '../lib/operators/match-responses.js';
import {
	headersFor,
	type NormalizeHeadersOptions,
	normalizeHeaders,
} from '../lib/operators/normalize-headers.js';
import {parse} from '../lib/operators/parse.js';
import {pollTasks} from '../lib/operators/poll-tasks.js';
import {queueUntilReady} from '../lib/operators/queue-until-ready.js';
import {rewriteVersion} from '../lib/operators/rewrite-version.js';
import {splitBatches} from '../lib/operators/split-batches.js';
import {statelessClient} from '../lib/operators/stateless-client.js';
import {statelessUpstream} from '../lib/operators/stateless-upstream.js';
import {timeLimit} from '../lib/operators/time-limit.js';
import {trace} from '../lib/operators/trace.js';
import {translateVersion} from '../lib/operators/translate-version.js';
import {handshakeTimeoutMs} from '../lib/protocol/handshake-timeout.js';
import {Negotiation, type NegotiationOptions, needsOnlyTranslation} from '../lib/protocol/negotiation.js';
import type {Taps} from '../lib/traffic-log/record-messages.js';

export type WrapPipelineOptions = NegotiationOptions & {
	readonly log: Log;
	/** How the server is reached, for people. */
	readonly transport: string;
	readonly timeoutMs: number;
	/** The flag or the key that sets that. */
	readonly timeoutSetting?: string | undefined;
	/** Shows each message to people. */
	readonly trace?: Parameters<typeof trace>[0] | undefined;
	/** The traffic log. */
	readonly taps?: Taps | undefined;
	/** Where the list of the server's tools is kept, if it is to be. */
	readonly cacheTools?: ToolsCache | undefined;
	/** What is known of the conversation, where somebody else wants to know it, too. */
	readonly negotiation?: Negotiation;
	/** The requests that wait for an answer, likewise. */
	readonly pending?: PendingRequests;
	/** How long a message may be. */
	readonly maxBytes?: number;
	/** What else the client's messages pass first, but for calls of tools and their answers. */
	readonly clientStages?: readonly Stage[];
};

/** A client in front of one server. Read it down as a request flows, and up as its answer does. */
export function wrapStages(options: WrapPipelineOptions): Stage[] {
	const {
		log,
		transport,
		timeoutMs,
		timeoutSetting,
		trace: traceOptions,
		taps,
		cacheTools: cache,
		...rest
	} = options;
	const {
		clientStages = [],
		upstream,
		negotiation = new Negotiation(rest),
		pending = new PendingRequests(),
		maxBytes = MESSAGE_LIMIT,
	} = rest;
	const isFast = markFastPath(negotiation, pending);
	const limit = {timeoutMs, setting: timeoutSetting};
	return [
		traceOptions ? trace(traceOptions) : {}, //                    what passes, for people
		taps?.client ?? {}, //                         what the client says and hears, for the traffic log
		bypassWhen(isFast, [
			...clientStages,
			splitBatches({negotiation, log}), //             a batch is the messages in it
			parse({log, from: 'client', maxBytes}), //   what is no message goes no further
		]),
		matchResponses({log, upstream, pending}), //     one answer a request, also when the server died
		timeLimit({...limit, upstream, pending, negotiation}), // an error in time, rather than no answer
		bypassWhen(isFast, [
			...versionStages({negotiation, log, transport, pending, limit}),
			cache ? cacheTools({negotiation, cache, timeoutMs}) : {}, //  tools/list, in the server's own words
			parse({log, from: 'upstream', maxBytes}), // what is no message goes no further
		]),
		taps?.upstream ?? {}, //                       what the server hears and says, where that differs
	];
}

type HttpUpstreamOptions = NormalizeHeadersOptions &
	Omit<InjectSessionOptions, 'nextRequestId' | 'retranslate' | 'control'> & {
		/** Where any of several replicas may carry the conversation on. */
		readonly control?: UpstreamControl | undefined;
		/** What the client has shown, for what bridge says in its name. */
		readonly authorization?: string | undefined;
	};

/** What stands next to a server that is spoken to over HTTP. */
export function httpUpstreamStages(options: HttpUpstreamOptions): Stage[] {
	const {upstream, log, onReinitialized, control, authorization, handshakeMs, ...headers} = options;
	const {negotiation} = headers;
	const headersOf = headersFor(headers);
	const retranslate: InjectSessionOptions['retranslate'] = (envelope, reply) => {
		const translated = negotiation.retranslate(envelope, reply);
		if (translated) translated.headers = headersOf(translated);
		return translated;
	};
	return [
		control ? controlUpstream(control, authorization) : {}, //  what bridge tells the end of the connection
		normalizeHeaders(headersOf), //                what a request has to have, and nothing else
		injectSession({
			upstream,
			log,
			nextRequestId: () => negotiation.nextRequestId(),
			onReinitialized,
			retranslate,
			control,
			handshakeMs,
		}), //  the server's session
	];
}

type VersionStagesOptions = Pick<WrapPipelineOptions, 'log' | 'transport'> & {
	readonly negotiation: Negotiation;
	readonly pending: PendingRequests;
	/** The time for one request, and the flag or the key that sets it. */
	readonly limit?: {readonly timeoutMs: number; readonly setting: string | undefined};
};

/** All that lets the two speak different versions. Once they have shaken hands, only the translation is in the way. */
export function versionStages({negotiation, log, transport, pending, limit}: VersionStagesOptions): Stage[] {
	const handshake = {attemptMs: handshakeTimeoutMs(limit?.timeoutMs), setting: limit?.setting};
	const isSettled = needsOnlyTranslation(negotiation);
	const handshakeStages = [
		queueUntilReady({negotiation, log, transport}), //  nothing before the handshake
		statelessClient({negotiation, log, pending}), //      a client without one looks like one with
	];
	const negotiationStages = [
		rewriteVersion({negotiation, log, ...handshake}), //  each side hears its own version in the handshake
		pollTasks(negotiation), //                         tools that run as tasks only, for clients without
		statelessUpstream({negotiation, log}), //             a server without handshake looks like one with
	];
	return [
		bypassWhen(isSettled, handshakeStages),
		translateVersion({negotiation, log, pending}), //  each side hears messages of its own version
		bypassWhen(isSettled, negotiationStages),
	];
}
