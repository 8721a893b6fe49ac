import {editMessage} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Log} from '../core/log.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import {timeoutRemedy} from '../core/timeout-remedy.js';
import {handshakeTimeoutMs} from '../protocol/handshake-timeout.js';
import {repairInitialize} from '../protocol/initialize-result.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {Translator} from '../protocol/translator.js';
import {
	type HandshakeVersion,
	isHandshakeVersion,
	NEWEST_HANDSHAKE,
	nextVersionToTry,
	resolveVersion,
} from '../protocol/version.js';
import {isBridgeError, isObject, type JsonObject, mapMember, objectOf, toText} from '../util/json.js';

type RewriteVersionOptions = {
	readonly negotiation: Negotiation;
	readonly log: Log;
	/** How long an upstream may take for one attempt; 0 for no limit. */
	readonly attemptMs?: number;
	/** The flag or the key that raises that. */
	readonly setting?: string | undefined;
};

const PROGRESS_MS = 10_000;
/** Bytes of an upstream's response to `initialize`. A session keeps its result. */
const MAX_RESULT = 2 ** 20;

/** Codes that servers refuse a version with, instead of naming another. */
const REJECTION_CODES: readonly unknown[] = [-32600, -32602, -32603, -32000, -32022];

/**
 * Lets each side hear its own protocol version in `initialize`: the upstream is asked for one that it may know, and
 * again for an older one where it refuses, and the client is told the one that it asked for.
 */
export function rewriteVersion(options: RewriteVersionOptions): Stage {
	return stage(out => new VersionNegotiator(options, out));
}

class VersionNegotiator implements StageSteps {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #attemptMs: number;
	readonly #setting: string | undefined;
	readonly #out: StageOutputs;
	/** The `initialize` without an answer, and what has been asked for in its name. */
	#request: Envelope | undefined;
	#tried: string[] = [];
	/** What the upstream answered in the end. */
	#result: JsonObject | undefined;
	#timers: NodeJS.Timeout[] = [];

	constructor(
		{negotiation, log, attemptMs = handshakeTimeoutMs(), setting}: RewriteVersionOptions,
		out: StageOutputs,
	) {
		this.#negotiation = negotiation;
		this.#log = log;
		this.#attemptMs = attemptMs;
		this.#setting = setting;
		this.#out = out;
	}

	readonly toUpstream = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method !== 'initialize' || id === undefined) return envelope;
		const {protocolVersion} = objectOf(envelope.body.params);
		if (typeof protocolVersion === 'string') return this.#begin(envelope, id, reply);
		const message = 'Invalid params: initialize needs params.protocolVersion (a string)';
		reply(Envelope.response(id, 'error', {code: -32602, message}, envelope.origin));
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method, hasError} = envelope.head;
		const request = this.#request;
		if (!request || method !== undefined || key !== request.head.key) return envelope;
		this.#stop();
		this.#request = undefined;
		if (hasError) return this.#retryOlder(envelope, request);
		if (envelope.size > MAX_RESULT)
			return Envelope.errorResponse(
				request.head.id,
				tooLarge(this.#negotiation.options.upstream),
				envelope.origin,
			);
		const {result} = envelope.body;
		const error = acceptVersion(this.#negotiation, result, this.#log);
		if (error) return Envelope.errorResponse(request.head.id, error, envelope.origin);
		const {result: repaired, members} = repairInitialize(objectOf(result));
		if (members.length > 0) reportRepairs(this.#negotiation, this.#log, members);
		this.#result = repaired;
		const forClientVersion = (received: unknown): JsonObject =>
			withClientVersion(members.length > 0 ? repaired : objectOf(received), this.#negotiation);
		return editMessage(envelope, body => mapMember(body, 'result', forClientVersion));
	};

	readonly upstreamClosed = (): void => this.#stop();
	readonly teardown = (): void => this.#stop();

	#begin(envelope: Envelope, id: string, reply: Emit): Envelope | undefined {
		const {targetVersion} = this.#negotiation.options;
		if (this.#result) {
			// What is known already is not asked for twice.
			reply(
				Envelope.response(id, 'result', withClientVersion(this.#result, this.#negotiation), envelope.origin),
			);
			return;
		}
		this.#tried = [];
		this.#negotiation.setUpstreamVersion(undefined);
		return this.#attempt(envelope, isHandshakeVersion(targetVersion) ? targetVersion : NEWEST_HANDSHAKE);
	}

	#attempt(envelope: Envelope, version: HandshakeVersion): Envelope {
		const {upstream, isStrict = false} = this.#negotiation.options;
		this.#request = envelope;
		this.#tried.push(version);
		this.#timers = [
			...(this.#attemptMs === 0 ? [] : [setTimeout(() => this.#timeOut(envelope), this.#attemptMs).unref()]),
			setInterval(() => logWaiting(this.#log, upstream), PROGRESS_MS).unref(),
		];
		const request = withVersion(envelope, version);
		return isStrict ? stripUnknownMembers(request, version) : request;
	}

	#timeOut({head: {id}, origin}: Envelope): void {
		this.#stop();
		this.#request = undefined;
		const {upstream} = this.#negotiation.options;
		const error = tooSlow(upstream, this.#attemptMs, this.#setting);
		this.#out.toClient(Envelope.errorResponse(id, error, origin));
	}

	/** Some servers refuse a version that they do not know, rather than to name one that they do. */
	#retryOlder(envelope: Envelope, request: Envelope): Envelope | undefined {
		const {upstream, targetVersion} = this.#negotiation.options;
		const {error} = envelope.body;
		const tried = this.#tried;
		// Over HTTP some say no more than that it was a bad request.
		const mayBeVersion =
			(isVersionRejection(error) && !isBridgeError(error)) || envelope.origin.errorReply?.status === 400;
		const next = mayBeVersion && targetVersion === undefined ? nextVersionToTry(error, tried) : undefined;
		if (next === undefined) return envelope;
		const sentence = `${upstream} refused protocol ${tried.at(-1)}; it is asked for ${next}.`;
		this.#log.info('proxy.version.refused', sentence, {
			server: upstream,
			tried: [...tried],
			next,
			reason: toText(objectOf(error).message),
		});
		this.#out.toUpstream(this.#attempt(request, next));
		return;
	}

	#stop(): void {
		for (const timer of this.#timers) clearTimeout(timer);
		this.#timers = [];
	}
}

/** What a server of the version that it is asked for may not know, before there is anybody to translate. */
function stripUnknownMembers(initialize: Envelope, version: HandshakeVersion): Envelope {
	const translator = new Translator({client: version, upstream: version, isStrict: true});
	return editMessage(
		initialize,
		body => translator.translate('toUpstream', 'request', 'initialize', body, '')?.forward ?? body,
	);
}

function withVersion(envelope: Envelope, version: string): Envelope {
	if (objectOf(envelope.body.params).protocolVersion === version) return envelope;
	return editMessage(envelope, body => ({
		...body,
		params: {...objectOf(body.params), protocolVersion: version},
	}));
}

/** Settles what the upstream speaks, by its answer. */
function acceptVersion(negotiation: Negotiation, result: unknown, log: Log): BridgeError | undefined {
	const {upstream} = negotiation.options;
	if (!isObject(result))
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${upstream} responded to initialize with a result that is not an object.`,
			'Report this to the author of that server; --log FILE records the response.',
		);
	const {protocolVersion: reported} = result;
	const resolved = resolveVersion(reported);
	negotiation.reportedVersion = typeof reported === 'string' ? reported : undefined;
	if (!resolved)
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${upstream} answered initialize with protocol ${toText(reported)}, which has no handshake.`,
			'Ask it for a version that it knows, with --target-version VERSION.',
		);
	if (resolved.warning !== undefined)
		log.warn('proxy.version.unknown', `${upstream} answered initialize with ${resolved.warning}.`, {
			server: upstream,
			answered: typeof reported === 'string' ? reported : null,
			version: resolved.version,
		});
	// A modern upstream has said so already; here it only looks like another.
	if (negotiation.upstreamVersion === undefined)
		negotiation.setUpstreamVersion(resolved.version, resolved.warning !== undefined);
	return;
}

/** The result with the version of the client. */
const withClientVersion = (
	result: JsonObject,
	{clientHandshakeVersion: clientFace}: Negotiation,
): JsonObject => mapMember(result, 'protocolVersion', () => clientFace);

function reportRepairs({options: {upstream}}: Negotiation, log: Log, members: readonly string[]): void {
	const sentence = `${upstream} responded to initialize with invalid members, which were repaired: ${members.join(', ')}.`;
	log.warn('proxy.initialize.repaired', sentence, {server: upstream, members});
}

function isVersionRejection(error: unknown): boolean {
	const {code, message} = objectOf(error);
	return REJECTION_CODES.includes(code) || (typeof message === 'string' && /version/i.test(message));
}

const logWaiting = (log: Log, upstream: string): void =>
	log.info('proxy.waiting', `${upstream} has not answered initialize yet.`, {server: upstream});

const tooSlow = (upstream: string, attemptMs: number, setting: string | undefined): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${upstream} did not respond to initialize within ${attemptMs / 1000} s.`,
		timeoutRemedy('Check its stderr or its log', setting),
		{timeoutMs: attemptMs, method: 'initialize'},
	);

const tooLarge = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} responded to initialize with more than ${MAX_RESULT} bytes.`,
		'Shorten the instructions and capabilities of that server.',
		{limit: MAX_RESULT},
	);
