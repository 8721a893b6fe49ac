import {everyday} from '../lib/everyday.js';
import {handshakeLimit} from '../lib/handshake-limit.js';
import type {Log} from '../lib/log.js';
import {cacheTools} from '../lib/operators/cache-tools.js';
import {MESSAGE_LIMIT} from '../lib/operators/frame.js';
import {holdUntilReady} from '../lib/operators/hold-until-ready.js';
import {type InjectSessionOptions, injectSession} from '../lib/operators/inject-session.js';
import {matchAnswers} from '../lib/operators/match-answers.js';
import {modernClient} from '../lib/operators/modern-client.js';
import {modernUpstream} from '../lib/operators/modern-upstream.js';
import {
	headersFor,
	type NormaliseHeadersOptions,
	normaliseHeaders,
} from '../lib/operators/normalise-headers.js';
import {parse} from '../lib/operators/parse.js';
import {pollTasks} from '../lib/operators/poll-tasks.js';
import type {Taps} from '../lib/operators/record.js';
import {rewriteVersion} from '../lib/operators/rewrite-version.js';
import {splitBatches} from '../lib/operators/split-batches.js';
import {steer} from '../lib/operators/steer.js';
import {timeLimit} from '../lib/operators/time-limit.js';
import {trace} from '../lib/operators/trace.js';
import {translateVersion} from '../lib/operators/translate-version.js';
import {isSettledFor, Session, type SessionOptions} from '../lib/protocol/session.js';
import type {Stage} from '../lib/stage.js';
import type {ToolsCache} from '../lib/tools-cache.js';
import type {Carriage} from '../lib/transports/carriage.js';
import {unless} from '../lib/unless.js';
import {WaitingRequests} from '../lib/waiting-requests.js';

export type WrapOptions = SessionOptions & {
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
	readonly session?: Session;
	/** The requests that wait for an answer, likewise. */
	readonly waiting?: WaitingRequests;
	/** How long a message may be. */
	readonly maxBytes?: number;
	/** What else the client's messages pass first, but for calls of tools and their answers. */
	readonly first?: readonly Stage[];
};

/** A client in front of one server. Read it down as a request flows, and up as its answer does. */
export function wrap(options: WrapOptions): Stage[] {
	const {log, transport, timeoutMs, timeoutSetting, trace: show, taps, cacheTools: cache, ...who} = options;
	const {
		first = [],
		upstream,
		session = new Session(who),
		waiting = new WaitingRequests(),
		maxBytes = MESSAGE_LIMIT,
	} = who;
	const isEveryday = everyday(session, waiting);
	const limit = {timeoutMs, setting: timeoutSetting};
	return [
		show ? trace(show) : {}, //                    what passes, for people
		taps?.client ?? {}, //                         what the client says and hears, for the traffic log
		unless(isEveryday, [
			...first,
			splitBatches({session, log}), //             a batch is the messages in it
			parse({log, from: 'client', maxBytes}), //   what is no message goes no further
		]),
		matchAnswers({log, upstream, waiting}), //     one answer a request, also when the server died
		timeLimit({...limit, upstream, waiting, session}), // an error in time, rather than no answer
		unless(isEveryday, [
			...speakVersions({session, log, transport, waiting, limit}),
			cache ? cacheTools({session, cache, timeoutMs}) : {}, //  tools/list, in the server's own words
			parse({log, from: 'upstream', maxBytes}), // what is no message goes no further
		]),
		taps?.upstream ?? {}, //                       what the server hears and says, where that differs
	];
}

export type HttpHopOptions = NormaliseHeadersOptions &
	Omit<InjectSessionOptions, 'ownId' | 'again' | 'carriage'> & {
		/** Where any of several replicas may carry the conversation on. */
		readonly carriage?: Carriage | undefined;
		/** What the client has shown, for what bridge says in its name. */
		readonly authorization?: string | undefined;
	};

/** What stands next to a server that is spoken to over HTTP. */
export function httpHop(options: HttpHopOptions): Stage[] {
	const {upstream, log, onRenewed, carriage, authorization, handshakeMs, ...headers} = options;
	const {session} = headers;
	const headersOf = headersFor(headers);
	const again: InjectSessionOptions['again'] = (envelope, answer) => {
		const translated = session.translate(envelope, answer);
		if (translated) translated.headers = headersOf(translated);
		return translated;
	};
	return [
		carriage ? steer(carriage, authorization) : {}, //  what bridge tells the end of the connection
		normaliseHeaders(headersOf), //                what a request has to have, and nothing else
		injectSession({upstream, log, ownId: () => session.ownId(), onRenewed, again, carriage, handshakeMs}), //  the server's session
	];
}

type SpeakVersionsOptions = Pick<WrapOptions, 'log' | 'transport'> & {
	readonly session: Session;
	readonly waiting: WaitingRequests;
	/** The time for one request, and the flag or the key that sets it. */
	readonly limit?: {readonly timeoutMs: number; readonly setting: string | undefined};
};

/** All that lets the two speak different versions. Once they have shaken hands, only the translation is in the way. */
export function speakVersions({session, log, transport, waiting, limit}: SpeakVersionsOptions): Stage[] {
	const handshake = {attemptMs: handshakeLimit(limit?.timeoutMs), setting: limit?.setting};
	const isSettled = isSettledFor(session);
	const greeting = [
		holdUntilReady({session, log, transport}), //  nothing before the handshake
		modernClient({session, log, waiting}), //      a client without one looks like one with
	];
	const negotiation = [
		rewriteVersion({session, log, ...handshake}), //  each side hears its own version in the handshake
		pollTasks(session), //                         tools that run as tasks only, for clients without
		modernUpstream({session, log}), //             a server without handshake looks like one with
	];
	return [
		unless(isSettled, greeting),
		translateVersion({session, log, waiting}), //  each side hears messages of its own version
		unless(isSettled, negotiation),
	];
}
