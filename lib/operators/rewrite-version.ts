import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {handshakeLimit} from '../handshake-limit.js';
import type {Log} from '../log.js';
import {moreTime} from '../more-time.js';
import {repairInitialize} from '../protocol/initialize-result.js';
import {changed, isObject, isOfBridge, type JsonObject, objectOf, worded} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {Translator} from '../protocol/translate.js';
import {
	type HandshakeVersion,
	isHandshakeVersion,
	NEWEST_HANDSHAKE,
	nextToAsk,
	spokenBy,
} from '../protocol/version.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';

export type RewriteVersionOptions = {
	readonly session: Session;
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
const REFUSALS: readonly unknown[] = [-32600, -32602, -32603, -32000, -32022];

/**
 * Lets each side hear its own protocol version in `initialize`: the upstream is asked for one that it may know, and
 * again for an older one where it refuses, and the client is told the one that it asked for.
 */
export function rewriteVersion(options: RewriteVersionOptions): Stage {
	return stage(out => new Negotiation(options, out));
}

class Negotiation implements Steps {
	readonly #session: Session;
	readonly #log: Log;
	readonly #attemptMs: number;
	readonly #setting: string | undefined;
	readonly #out: Outlets;
	/** The `initialize` without an answer, and what has been asked for in its name. */
	#request: Envelope | undefined;
	#tried: string[] = [];
	/** What the upstream answered in the end. */
	#result: JsonObject | undefined;
	#timers: NodeJS.Timeout[] = [];

	constructor({session, log, attemptMs = handshakeLimit(), setting}: RewriteVersionOptions, out: Outlets) {
		this.#session = session;
		this.#log = log;
		this.#attemptMs = attemptMs;
		this.#setting = setting;
		this.#out = out;
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method !== 'initialize' || id === undefined) return envelope;
		const {protocolVersion} = objectOf(envelope.body.params);
		if (typeof protocolVersion === 'string') return this.#begin(envelope, id, answer);
		const message = 'Invalid params: initialize needs params.protocolVersion (a string)';
		answer(Envelope.answer(id, 'error', {code: -32602, message}, envelope.origin));
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method, hasError} = envelope.head;
		const request = this.#request;
		if (!request || method !== undefined || key !== request.head.key) return envelope;
		this.#stop();
		this.#request = undefined;
		if (hasError) return this.#failed(envelope, request);
		if (envelope.size > MAX_RESULT)
			return Envelope.failure(request.head.id, tooLarge(this.#session.options.upstream), envelope.origin);
		const {result} = envelope.body;
		const error = judge(this.#session, result, this.#log);
		if (error) return Envelope.failure(request.head.id, error, envelope.origin);
		const {result: whole, members} = repairInitialize(objectOf(result));
		if (members.length > 0) reportRepairs(this.#session, this.#log, members);
		this.#result = whole;
		const told = (given: unknown): JsonObject =>
			forClient(members.length > 0 ? whole : objectOf(given), this.#session);
		return change(envelope, body => changed(body, 'result', told));
	};

	readonly upstreamGone = (): void => this.#stop();
	readonly stopped = (): void => this.#stop();

	#begin(envelope: Envelope, id: string, answer: Answer): Envelope | undefined {
		const {targetVersion} = this.#session.options;
		if (this.#result) {
			// What is known already is not asked for twice.
			answer(Envelope.answer(id, 'result', forClient(this.#result, this.#session), envelope.origin));
			return;
		}
		this.#tried = [];
		this.#session.upstreamBecame(undefined);
		return this.#attempt(envelope, isHandshakeVersion(targetVersion) ? targetVersion : NEWEST_HANDSHAKE);
	}

	#attempt(envelope: Envelope, version: HandshakeVersion): Envelope {
		const {upstream, isStrict = false} = this.#session.options;
		this.#request = envelope;
		this.#tried.push(version);
		this.#timers = [
			...(this.#attemptMs === 0 ? [] : [setTimeout(() => this.#giveUp(envelope), this.#attemptMs).unref()]),
			setInterval(() => tellOfWaiting(this.#log, upstream), PROGRESS_MS).unref(),
		];
		const asked = withVersion(envelope, version);
		return isStrict ? strictlyFor(asked, version) : asked;
	}

	#giveUp({head: {id}, origin}: Envelope): void {
		this.#stop();
		this.#request = undefined;
		const {upstream} = this.#session.options;
		const error = tooSlow(upstream, this.#attemptMs, this.#setting);
		this.#out.toClient(Envelope.failure(id, error, origin));
	}

	/** Some servers refuse a version that they do not know, rather than to name one that they do. */
	#failed(envelope: Envelope, request: Envelope): Envelope | undefined {
		const {upstream, targetVersion} = this.#session.options;
		const {error} = envelope.body;
		const tried = this.#tried;
		// Over HTTP some say no more than that it was a bad request.
		const mayBeVersion = (isRefusal(error) && !isOfBridge(error)) || envelope.origin.refusal?.status === 400;
		const next = mayBeVersion && targetVersion === undefined ? nextToAsk(error, tried) : undefined;
		if (next === undefined) return envelope;
		const sentence = `${upstream} refused protocol ${tried.at(-1)}; it is asked for ${next}.`;
		this.#log.info('proxy.version.refused', sentence, {
			server: upstream,
			tried: [...tried],
			next,
			reason: worded(objectOf(error).message),
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
function strictlyFor(initialize: Envelope, version: HandshakeVersion): Envelope {
	const translator = new Translator({client: version, upstream: version, isStrict: true});
	return change(
		initialize,
		body => translator.translate('toUpstream', 'request', 'initialize', body, '')?.on ?? body,
	);
}

function withVersion(envelope: Envelope, version: string): Envelope {
	if (objectOf(envelope.body.params).protocolVersion === version) return envelope;
	return change(envelope, body => ({
		...body,
		params: {...objectOf(body.params), protocolVersion: version},
	}));
}

/** Settles what the upstream speaks, by its answer. */
function judge(session: Session, result: unknown, log: Log): BridgeError | undefined {
	const {upstream} = session.options;
	if (!isObject(result))
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${upstream} responded to initialize with a result that is not an object.`,
			'Report this to the author of that server; --log FILE records the response.',
		);
	const {protocolVersion: answered} = result;
	const spoken = spokenBy(answered);
	session.answeredVersion = typeof answered === 'string' ? answered : undefined;
	if (!spoken)
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${upstream} answered initialize with protocol ${worded(answered)}, which has no handshake.`,
			'Ask it for a version that it knows, with --target-version VERSION.',
		);
	if (spoken.problem !== undefined)
		log.warn('proxy.version.unknown', `${upstream} answered initialize with ${spoken.problem}.`, {
			server: upstream,
			answered: typeof answered === 'string' ? answered : null,
			version: spoken.version,
		});
	// A modern upstream has said so already; here it only looks like another.
	if (session.upstream === undefined) session.upstreamBecame(spoken.version, spoken.problem !== undefined);
	return;
}

/** The result with the version of the client. */
const forClient = (result: JsonObject, {clientFace}: Session): JsonObject =>
	changed(result, 'protocolVersion', () => clientFace);

function reportRepairs({options: {upstream}}: Session, log: Log, members: readonly string[]): void {
	const sentence = `${upstream} responded to initialize with invalid members, which were repaired: ${members.join(', ')}.`;
	log.warn('proxy.initialize.repaired', sentence, {server: upstream, members});
}

function isRefusal(error: unknown): boolean {
	const {code, message} = objectOf(error);
	return REFUSALS.includes(code) || (typeof message === 'string' && /version/i.test(message));
}

const tellOfWaiting = (log: Log, upstream: string): void =>
	log.info('proxy.waiting', `${upstream} has not answered initialize yet.`, {server: upstream});

const tooSlow = (upstream: string, attemptMs: number, setting: string | undefined): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_TIMEOUT',
		`${upstream} did not respond to initialize within ${attemptMs / 1000} s.`,
		moreTime('Check its stderr or its log', setting),
		{timeoutMs: attemptMs, method: 'initialize'},
	);

const tooLarge = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} responded to initialize with more than ${MAX_RESULT} bytes.`,
		'Shorten the instructions and capabilities of that server.',
		{limit: MAX_RESULT},
	);
