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
	/** Time limit of one attempt; 0 for no limit. */
	readonly attemptMs?: number;
	/** The flag or config key of this limit, for the error message. */
	readonly setting?: string | undefined;
};

/** Interval of the log message while the upstream does not respond. */
const PROGRESS_MS = 10_000;
/** Bytes of the response to `initialize`. Limited, because the session stores its result. */
const MAX_RESULT = 2 ** 20;

/** Error codes that upstreams use to reject a version. */
const REJECTION_CODES: readonly unknown[] = [-32600, -32602, -32603, -32000, -32022];

/**
 * Negotiates the protocol version with each side separately. The upstream gets the newest version in
 * `initialize`, and an older one after a rejection. The client gets the version that it requested.
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
	/** The pending `initialize`, and the versions tried for it. */
	#request: Envelope | undefined;
	#tried: string[] = [];
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
			// The upstream is initialized already.
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

	/** Retries with an older version, because some upstreams reject unknown versions instead of naming one. */
	#retryOlder(envelope: Envelope, request: Envelope): Envelope | undefined {
		const {upstream, targetVersion} = this.#negotiation.options;
		const {error} = envelope.body;
		const tried = this.#tried;
		// Some HTTP upstreams only respond with 400 Bad Request.
		const mayBeVersion =
			(isVersionRejection(error) && !isBridgeError(error)) || envelope.origin.errorReply?.status === 400;
		const next = mayBeVersion && targetVersion === undefined ? nextVersionToTry(error, tried) : undefined;
		if (next === undefined) return envelope;
		const message = `${upstream} rejected protocol ${tried.at(-1)}; retrying with ${next}.`;
		this.#log.info('proxy.version.refused', message, {
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

/** Removes members that this version does not define. The translator does not run before the negotiation. */
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
			`${upstream} responded to initialize with protocol ${toText(reported)}, which has no handshake.`,
			'Request a version that it supports, with --target-version VERSION.',
		);
	if (resolved.warning !== undefined)
		log.warn('proxy.version.unknown', `${upstream} responded to initialize with ${resolved.warning}.`, {
			server: upstream,
			answered: typeof reported === 'string' ? reported : null,
			version: resolved.version,
		});
	// For a stateless upstream, the version is set already, and this result is synthetic.
	if (negotiation.upstreamVersion === undefined)
		negotiation.setUpstreamVersion(resolved.version, resolved.warning !== undefined);
	return;
}

const withClientVersion = (result: JsonObject, {clientHandshakeVersion}: Negotiation): JsonObject =>
	mapMember(result, 'protocolVersion', () => clientHandshakeVersion);

function reportRepairs({options: {upstream}}: Negotiation, log: Log, members: readonly string[]): void {
	const message = `${upstream} responded to initialize with invalid members, which were repaired: ${members.join(', ')}.`;
	log.warn('proxy.initialize.repaired', message, {server: upstream, members});
}

function isVersionRejection(error: unknown): boolean {
	const {code, message} = objectOf(error);
	return REJECTION_CODES.includes(code) || (typeof message === 'string' && /version/i.test(message));
}

const logWaiting = (log: Log, upstream: string): void =>
	log.info('proxy.waiting', `${upstream} has not responded to initialize yet.`, {server: upstream});

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
