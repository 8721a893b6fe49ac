import {randomBytes} from 'node:crypto';
import {bridgeInfo} from '../bridge-version.js';
import type {Envelope} from '../core/envelope.js';
import type {JsonObject} from '../util/json.js';
import {
	BATCH_VERSION,
	type HandshakeVersion,
	NEWEST_HANDSHAKE,
	resolveVersion,
	STATELESS,
	type Version,
} from './version.js';

export type NegotiationOptions = {
	/** The name of the upstream, for messages. */
	readonly upstream: string;
	/** The version to request from the upstream. Default: the newest version with a handshake. */
	readonly targetVersion?: Version | undefined;
	/** The version in the `initialize` response to the client. Default: the version that it requested. */
	readonly clientVersion?: HandshakeVersion | undefined;
	/** Whether members that a receiver's version does not have are removed. */
	readonly isStrict?: boolean;
	/** Whether several clients share the upstream, so its client capabilities exceed those of each client. */
	readonly isShared?: boolean;
	/** Whether the client is the hub, which does not support tasks and can wait for a handshake. */
	readonly isHub?: boolean;
	/** Creates the `requestState` with which a stateless client retries a call that waits for its input. */
	readonly newState?: (() => string) | undefined;
};

/** Marks (see wire/marks.ts) of the tool calls, results and errors that have to be transformed. */
export type TransformMarks = {readonly calls: number; readonly results: number; readonly errors: number};

const unchanged = (envelope: Envelope): Envelope => envelope;

const noTransformMarks: TransformMarks = {calls: 0, results: 0, errors: 0};

export type NegotiationSnapshot = {
	readonly client: Version;
	readonly upstream: Version;
	/** Whether the version of the upstream is only assumed. */
	readonly isUnsure: boolean;
	readonly capabilities: JsonObject;
};

export type ClientDescription = {readonly info: JsonObject; readonly capabilities: JsonObject};

/** The negotiated state of one conversation. A new connection starts a new one. */
export class Negotiation {
	readonly options: NegotiationOptions;
	clientInfo: JsonObject = bridgeInfo;
	clientCapabilities: JsonObject = {};
	/** The upstream's `initialize` result, as adapted for this client. */
	initializeResult: JsonObject | undefined;
	/** The version that the upstream reported, which may be an unknown one. */
	reportedVersion: string | undefined;
	/** The transport in use, if it is not the configured one. */
	transport: string | undefined;
	/** Logs a re-initialized connection, with the result of its handshake. */
	reportReinitialized: (result: JsonObject, durationMs?: number) => void = () => {};
	/** The number of losses, by feature. */
	readonly losses = new Map<string, number>();
	/** Whether another replica started the conversation. */
	isRestored = false;
	/** Incremented whenever the version of a side changes. */
	epoch = 0;
	/** Whether only translation remains: all handshakes are complete, or neither side has one. */
	isSettled = false;
	/** Whether messages do not even need translation. */
	isPassThrough = false;
	/**
	 * The marks of tool calls and results that have to be transformed. If undefined, every message is
	 * checked.
	 */
	transformMarks: TransformMarks | undefined;
	/**
	 * Translates a message of the client again, after the version of the upstream has changed. Replies with
	 * an error to a message that the new version cannot express.
	 */
	retranslate: (envelope: Envelope, reply: (back: Envelope) => void) => Envelope | undefined = unchanged;
	/** Whether the request with this id is queued, and was not sent to the upstream yet. */
	hasQueued: (id: string) => boolean = () => false;
	#translatorMarks: TransformMarks | undefined;
	#clientVersion: Version | undefined;
	#upstreamVersion: Version | undefined;
	#isUnsure = false;
	#offersTasks = false;
	#isReady = false;
	#isHandshakeFinal = false;
	readonly #prefix = `bridge-${randomBytes(4).toString('hex')}`;
	#ids = 0;
	/** The callbacks for the end of the handshake, one per waiting stage. */
	readonly #whenReady: Array<() => void> = [];

	constructor(options: NegotiationOptions) {
		this.options = options;
	}

	/** The version in the `initialize` response to the client, or the stateless version. */
	get clientVersion(): Version | undefined {
		return this.#clientVersion;
	}

	get upstreamVersion(): Version | undefined {
		return this.#upstreamVersion;
	}

	/** Whether the handshake with the upstream is complete. */
	get isReady(): boolean {
		return this.#isReady;
	}

	/**
	 * The handshake version for messages to the client. A stateless client is represented by the newest one.
	 */
	get clientHandshakeVersion(): HandshakeVersion | undefined {
		return this.#clientVersion === STATELESS ? NEWEST_HANDSHAKE : this.#clientVersion;
	}

	get upstreamHandshakeVersion(): HandshakeVersion | undefined {
		return this.#upstreamVersion === STATELESS ? NEWEST_HANDSHAKE : this.#upstreamVersion;
	}

	/** Whether messages of one side may be invalid for the other. */
	get needsTranslation(): boolean {
		const {isStrict = false} = this.options;
		return (
			this.#clientVersion === undefined ||
			this.#clientVersion !== this.#upstreamVersion ||
			this.#isUnsure ||
			isStrict
		);
	}

	/** Whether bridge polls tasks of the upstream, because the client does not support tasks. */
	get needsPolling(): boolean {
		return this.#offersTasks && (this.#clientVersion !== NEWEST_HANDSHAKE || this.options.isHub === true);
	}

	setClient(version: Version | undefined, {info, capabilities}: Partial<ClientDescription> = {}): void {
		this.#clientVersion = version;
		this.#startEpoch();
		this.clientInfo = info ?? this.clientInfo;
		this.clientCapabilities = capabilities ?? this.clientCapabilities;
		this.#update();
	}

	/** Sets the version of the upstream. `isUnsure` marks an assumed one. */
	setUpstreamVersion(version: Version | undefined, isUnsure = false): void {
		this.#upstreamVersion = version;
		this.#startEpoch();
		this.#isUnsure = isUnsure;
		this.#update();
	}

	setTasksOffered(isOffered: boolean): void {
		this.#offersTasks = isOffered;
		this.#update();
	}

	/**
	 * Completes the handshake with the upstream. `isFinal` means that the client completed its own part, too.
	 */
	completeHandshake(isFinal: boolean): void {
		this.#isReady = true;
		this.#isHandshakeFinal = isFinal;
		this.#update();
		for (const proceed of this.#whenReady.splice(0)) proceed();
	}

	/**
	 * Returns the state that another replica needs to continue the conversation. Undefined if that would not
	 * be enough: data about tasks and stateless peers exists only here.
	 */
	snapshot(): NegotiationSnapshot | undefined {
		const [client, upstream, isUnsure] = [this.#clientVersion, this.#upstreamVersion, this.#isUnsure];
		if (client === undefined || upstream === undefined || this.needsPolling) return;
		if (client === STATELESS || upstream === STATELESS) return;
		return {client, upstream, isUnsure, capabilities: this.clientCapabilities};
	}

	restore({client, upstream, isUnsure, capabilities}: NegotiationSnapshot, hasTools: boolean): void {
		this.isRestored = true;
		this.setClient(client, {capabilities});
		this.setUpstreamVersion(upstream, isUnsure);
		this.reportedVersion = upstream;
		this.initializeResult = {capabilities: hasTools ? {tools: {}} : {}};
		this.completeHandshake(true);
	}

	/** Calls `proceed` when the handshake with the upstream is complete: immediately if it is. */
	whenReady(proceed: () => void): void {
		if (this.#isReady) proceed();
		else this.#whenReady.push(proceed);
	}

	/** Applies the result of a new handshake, which may have another version. */
	reinitialized(result: JsonObject, durationMs?: number): void {
		const {protocolVersion: reported} = result;
		const resolved = resolveVersion(reported);
		this.reportedVersion = typeof reported === 'string' ? reported : undefined;
		const isUnsure = resolved?.warning !== undefined;
		if (resolved && (resolved.version !== this.#upstreamVersion || isUnsure !== this.#isUnsure))
			this.setUpstreamVersion(resolved.version, isUnsure);
		this.reportReinitialized(result, durationMs);
	}

	/** An id for a request that bridge itself sends. */
	nextRequestId(): string {
		return `${this.#prefix}-${++this.#ids}`;
	}

	/** Starts a new epoch, in which the marks of the previous translator are invalid. */
	#startEpoch(): void {
		this.epoch++;
		this.#translatorMarks = undefined;
	}

	setTransformMarks(transformMarks: TransformMarks): void {
		this.#translatorMarks = transformMarks;
		this.#update();
	}

	#update(): void {
		const isOneEra = (this.#clientVersion === STATELESS) === (this.#upstreamVersion === STATELESS);
		this.isSettled = this.#isReady && this.#isHandshakeFinal && isOneEra && !this.needsPolling;
		this.isPassThrough = this.isSettled && !this.needsTranslation;
		const mayBeBatched = this.#clientVersion === BATCH_VERSION;
		if (this.isSettled && !mayBeBatched)
			this.transformMarks = this.isPassThrough ? noTransformMarks : this.#translatorMarks;
		else this.transformMarks = undefined;
	}
}

/** Whether a message needs only translation. `initialize` always needs more. */
export const needsOnlyTranslation =
	(negotiation: Negotiation) =>
	({head}: {readonly head: {readonly method: string | undefined}}): boolean =>
		negotiation.isSettled && head.method !== 'initialize';
