import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {Log} from '../log.js';
import {isObject, type JsonObject, objectOf} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {isHandshakeVersion, NEWEST_HANDSHAKE, nextToAsk, spokenBy, toldTo} from '../protocol/version.js';
import {type Stage, stage} from '../stage.js';

export type RewriteVersionOptions = {
	readonly session: Session;
	readonly log: Log;
	/** How long an upstream may take for one attempt. */
	readonly attemptMs?: number;
};

/** As long as the specification allows a handshake to take. */
const ATTEMPT_MS = 60_000;
const PROGRESS_MS = 10_000;

/** Codes that servers refuse a version with, instead of naming another. */
const REFUSALS: readonly unknown[] = [-32600, -32602, -32603, -32000, -32022];

/**
 * Lets each side hear its own protocol version in `initialize`: the upstream is asked for one that it may know, and
 * again for an older one where it refuses, and the client is told the one that it asked for.
 */
export function rewriteVersion({session, log, attemptMs = ATTEMPT_MS}: RewriteVersionOptions): Stage {
	const {upstream, targetVersion, clientVersion} = session.options;
	/** The `initialize` without an answer, and what has been asked for in its name. */
	let request: Envelope | undefined;
	let tried: string[] = [];
	let timers: NodeJS.Timeout[] = [];
	const stop = (): void => {
		for (const timer of timers) clearTimeout(timer);
		timers = [];
	};
	return stage(out => {
		const attempt = (envelope: Envelope, version: string): Envelope => {
			tried.push(version);
			stop();
			timers = [
				setTimeout(() => giveUp(envelope), attemptMs).unref(),
				setInterval(() => tellOfWaiting(log, upstream), PROGRESS_MS).unref(),
			];
			return withVersion(envelope, version);
		};
		const giveUp = (envelope: Envelope): void => {
			stop();
			request = undefined;
			out.toClient(Envelope.failure(envelope.head.id, tooSlow(upstream, attemptMs), envelope.origin));
		};
		const begin = (envelope: Envelope): Envelope => {
			const {protocolVersion} = objectOf(envelope.body.params);
			request = envelope;
			tried = [];
			session.upstream = undefined;
			session.client ??= toldTo(protocolVersion, clientVersion);
			return attempt(envelope, isHandshakeVersion(targetVersion) ? targetVersion : NEWEST_HANDSHAKE);
		};
		const failed = (envelope: Envelope, asked: Envelope): Envelope | undefined => {
			const {error} = envelope.body;
			const next = isRefusal(error) && targetVersion === undefined ? nextToAsk(error, tried) : undefined;
			if (next === undefined) {
				request = undefined;
				return envelope;
			}
			const sentence = `${upstream} refused protocol ${tried.at(-1)}; it is asked for ${next}.`;
			log.info('proxy.version.refused', sentence, {server: upstream, tried, next});
			out.toUpstream(attempt(asked, next));
			return;
		};
		return {
			toUpstream(envelope, answer) {
				const {id, method} = envelope.head;
				if (method !== 'initialize' || id === undefined) return envelope;
				if (typeof objectOf(envelope.body.params).protocolVersion === 'string') return begin(envelope);
				const message = 'Invalid params: initialize needs params.protocolVersion (a string)';
				answer(Envelope.answer(id, 'error', {code: -32602, message}, envelope.origin));
				return;
			},
			toClient(envelope) {
				const {key, method, hasError} = envelope.head;
				if (!request || method !== undefined || key !== request.head.key) return envelope;
				stop();
				if (hasError) return failed(envelope, request);
				const {id} = request.head;
				request = undefined;
				const error = judge(session, objectOf(envelope.body.result).protocolVersion, log);
				if (error) return Envelope.failure(id, error, envelope.origin);
				return change(envelope, body => ({...body, result: told(objectOf(body.result), session)}));
			},
			upstreamGone: stop,
			stopped: stop,
		};
	});
}

function withVersion(envelope: Envelope, version: string): Envelope {
	if (objectOf(envelope.body.params).protocolVersion === version) return envelope;
	return change(envelope, body => ({
		...body,
		params: {...objectOf(body.params), protocolVersion: version},
	}));
}

/** Settles what the upstream speaks, by its answer. */
function judge(session: Session, answered: unknown, log: Log): BridgeError | undefined {
	const {upstream} = session.options;
	const spoken = spokenBy(answered);
	if (!spoken)
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${upstream} answered initialize with protocol ${answered}, which has no handshake.`,
			'Ask it for a version that it knows, with --target-version VERSION.',
		);
	if (spoken.problem !== undefined)
		log.warn('proxy.version.unknown', `${upstream} answered initialize with ${spoken.problem}.`, {
			server: upstream,
			answered: typeof answered === 'string' ? answered : null,
			version: spoken.version,
		});
	session.upstream ??= spoken.version;
	return;
}

/** The answer as the client is to hear it, with what it has to have. */
function told(result: JsonObject, {clientFace}: Session): JsonObject {
	const {protocolVersion, capabilities, serverInfo} = result;
	const isWhole = isObject(capabilities) && isObject(serverInfo);
	if (isWhole && protocolVersion === clientFace) return result;
	return {
		...result,
		protocolVersion: clientFace,
		capabilities: objectOf(capabilities),
		serverInfo: isObject(serverInfo) ? serverInfo : {name: 'unknown', version: '0'},
	};
}

function isRefusal(error: unknown): boolean {
	const {code, message} = objectOf(error);
	return REFUSALS.includes(code) || (typeof message === 'string' && /version/i.test(message));
}

const tellOfWaiting = (log: Log, upstream: string): void =>
	log.info('proxy.waiting', `${upstream} has not answered initialize yet.`, {server: upstream});

const tooSlow = (upstream: string, attemptMs: number): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${upstream} did not answer initialize within ${attemptMs / 1000} s.`,
		'See what it is doing; its stderr may tell.',
		{timeoutMs: attemptMs, method: 'initialize'},
	);
