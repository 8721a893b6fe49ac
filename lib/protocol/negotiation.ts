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
	/** The server's name, for people. */
	readonly upstream: string;
	/** What the upstream is asked for; without it, the newest version with a handshake. */
	readonly targetVersion?: Version | undefined;
	/** What the client is told; without it, what it asked for. */
	readonly clientVersion?: HandshakeVersion | undefined;
	/** Whether members that a receiver's version does not have are removed. */
	readonly isStrict?: boolean;
	/** Whether the upstream serves several clients, and so was promised more than each of them can do. */
	readonly isShared?: boolean;
	/** Whether the client is the hub: it knows no tasks, though its version has them, and can wait for a handshake. */
	readonly isHub?: boolean;
	/** Makes the words under which a client without handshake comes back to a call that waits for it. */
	readonly newState?: (() => string) | undefined;
};

/** Marks, as in wire/marks.ts, of the calls of tools, their results and their errors that are not passed on as they are. */
export type TransformMarks = {readonly calls: number; readonly results: number; readonly errors: number};

const unchanged = (envelope: Envelope): Envelope => envelope;

const noTransformMarks: TransformMarks = {calls: 0, results: 0, errors: 0};

/** How far a conversation has come, where both have shaken hands. */
export type NegotiationSnapshot = {
	readonly client: Version;
	readonly upstream: Version;
	/** Whether the upstream is only taken to speak that. */
	readonly isUnsure: boolean;
	/** What the client can do. */
	readonly capabilities: JsonObject;
};

/** Who a client is, and what it can do. */
export type ClientDescription = {readonly info: JsonObject; readonly capabilities: JsonObject};

/**
 * What is known of one conversation: who speaks which version, and what they said of themselves. A new connection is a
 * new one.
 */
export class Negotiation {
	readonly options: NegotiationOptions;
	clientInfo: JsonObject = bridgeInfo;
	clientCapabilities: JsonObject = {};
	/** What the upstream answered to `initialize`, as this client may be told. */
	initializeResult: JsonObject | undefined;
	/** What the upstream said that it speaks, which need not be a version that there is. */
	reportedVersion: string | undefined;
	/** The transport in use, where it is not the configured one. */
	transport: string | undefined;
	/** Logs a connection that was made again, by the result of its handshake. */
	reportReinitialized: (result: JsonObject, durationMs?: number) => void = () => {};
	/** What could not be carried, and how often. */
	readonly losses = new Map<string, number>();
	/** Whether it was begun elsewhere. */
	isRestored = false;
	/** Another one whenever somebody turns out to speak something else. */
	epoch = 0;
	/** Whether there is nothing left to do but to translate: both have shaken hands, or neither wants to. */
	isSettled = false;
	/** Whether there is not even that. */
	isPassThrough = false;
	/** What a call of a tool, and its answer, must have in them to be changed, if that is known; else everybody has to look. */
	transformMarks: TransformMarks | undefined;
	/**
	 * Has a message of the client translated for the version that the upstream speaks now, where it was translated for
	 * another one before. A message that this version has no word for is answered instead.
	 */
	retranslate: (envelope: Envelope, reply: (back: Envelope) => void) => Envelope | undefined = unchanged;
	/** Whether the request with this id waits in front of the upstream, and was not sent to it. */
	hasQueued: (id: string) => boolean = () => false;
	/** What a translator has told of itself. */
	#translatorMarks: TransformMarks | undefined;
	#clientVersion: Version | undefined;
	#upstreamVersion: Version | undefined;
	#isUnsure = false;
	#offersTasks = false;
	#isReady = false;
	#isHandshakeFinal = false;
	readonly #prefix = `bridge-${randomBytes(4).toString('hex')}`;
	#ids = 0;
	/** What is to be done when the handshake is complete: one thing a stage that waits for it. */
	readonly #whenReady: Array<() => void> = [];

	constructor(options: NegotiationOptions) {
		this.options = options;
	}

	/** What the client speaks: what it was told, unless it is modern. */
	get clientVersion(): Version | undefined {
		return this.#clientVersion;
	}

	/** What the upstream speaks. */
	get upstreamVersion(): Version | undefined {
		return this.#upstreamVersion;
	}

	/** Whether the handshake with the upstream is complete. */
	get isReady(): boolean {
		return this.#isReady;
	}

	/** The handshake version that the client is spoken to in: a modern one looks like the newest of them. */
	get clientHandshakeVersion(): HandshakeVersion | undefined {
		return this.#clientVersion === STATELESS ? NEWEST_HANDSHAKE : this.#clientVersion;
	}

	get upstreamHandshakeVersion(): HandshakeVersion | undefined {
		return this.#upstreamVersion === STATELESS ? NEWEST_HANDSHAKE : this.#upstreamVersion;
	}

	/** Whether what one side says may not be what the other understands. */
	get needsTranslation(): boolean {
		const {isStrict = false} = this.options;
		return (
			this.#clientVersion === undefined ||
			this.#clientVersion !== this.#upstreamVersion ||
			this.#isUnsure ||
			isStrict
		);
	}

	/** Whether the client has no word for tasks that the upstream may want to work in. */
	get needsPolling(): boolean {
		return this.#offersTasks && (this.#clientVersion !== NEWEST_HANDSHAKE || this.options.isHub === true);
	}

	/** The client speaks this, or nobody knows any more. */
	setClient(version: Version | undefined, {info, capabilities}: Partial<ClientDescription> = {}): void {
		this.#clientVersion = version;
		this.#startEpoch();
		this.clientInfo = info ?? this.clientInfo;
		this.clientCapabilities = capabilities ?? this.clientCapabilities;
		this.#update();
	}

	/** The upstream speaks this, or is only taken to. */
	setUpstreamVersion(version: Version | undefined, isUnsure = false): void {
		this.#upstreamVersion = version;
		this.#startEpoch();
		this.#isUnsure = isUnsure;
		this.#update();
	}

	/** The upstream has said whether it works in tasks. */
	setTasksOffered(isOffered: boolean): void {
		this.#offersTasks = isOffered;
		this.#update();
	}

	/** The handshake with the upstream is complete; and over, if the client will not come back to it. */
	completeHandshake(isFinal: boolean): void {
		this.#isReady = true;
		this.#isHandshakeFinal = isFinal;
		this.#update();
		for (const proceed of this.#whenReady.splice(0)) proceed();
	}

	/**
	 * What somebody else has to know to carry the conversation on. Undefined where that is not all: what was learnt of tools
	 * on the way is only known here.
	 */
	snapshot(): NegotiationSnapshot | undefined {
		const [client, upstream, isUnsure] = [this.#clientVersion, this.#upstreamVersion, this.#isUnsure];
		if (client === undefined || upstream === undefined || this.needsPolling) return;
		if (client === STATELESS || upstream === STATELESS) return;
		return {client, upstream, isUnsure, capabilities: this.clientCapabilities};
	}

	/** Carries a conversation on that was begun elsewhere. */
	restore({client, upstream, isUnsure, capabilities}: NegotiationSnapshot, hasTools: boolean): void {
		this.isRestored = true;
		this.setClient(client, {capabilities});
		this.setUpstreamVersion(upstream, isUnsure);
		this.reportedVersion = upstream;
		this.initializeResult = {capabilities: hasTools ? {tools: {}} : {}};
		this.completeHandshake(true);
	}

	/** Runs `proceed` now when the handshake with the upstream is complete, else once it is. */
	whenReady(proceed: () => void): void {
		if (this.#isReady) proceed();
		else this.#whenReady.push(proceed);
	}

	/** The upstream has responded to a new handshake, perhaps with another version. */
	reinitialized(result: JsonObject, durationMs?: number): void {
		const {protocolVersion: reported} = result;
		const resolved = resolveVersion(reported);
		this.reportedVersion = typeof reported === 'string' ? reported : undefined;
		const isUnsure = resolved?.warning !== undefined;
		if (resolved && (resolved.version !== this.#upstreamVersion || isUnsure !== this.#isUnsure))
			this.setUpstreamVersion(resolved.version, isUnsure);
		this.reportReinitialized(result, durationMs);
	}

	/** An id for a request of bridge's own. */
	nextRequestId(): string {
		return `${this.#prefix}-${++this.#ids}`;
	}

	/** Somebody speaks something else now, so there is another translator to come. */
	#startEpoch(): void {
		this.epoch++;
		this.#translatorMarks = undefined;
	}

	/** There is a translator, which changes no calls and answers but such. */
	setTransformMarks(transformMarks: TransformMarks): void {
		this.#translatorMarks = transformMarks;
		this.#update();
	}

	#update(): void {
		const isOneEra = (this.#clientVersion === STATELESS) === (this.#upstreamVersion === STATELESS);
		this.isSettled = this.#isReady && this.#isHandshakeFinal && isOneEra && !this.needsPolling;
		this.isPassThrough = this.isSettled && !this.needsTranslation;
		const mayBePart = this.#clientVersion === BATCH_VERSION;
		if (this.isSettled && !mayBePart)
			this.transformMarks = this.isPassThrough ? noTransformMarks : this.#translatorMarks;
		else this.transformMarks = undefined;
	}
}

/** Whether a message needs no more than a translation. A new handshake always needs more. */
export const needsOnlyTranslation =
	(negotiation: Negotiation) =>
	({head}: {readonly head: {readonly method: string | undefined}}): boolean =>
		negotiation.isSettled && head.method !== 'initialize';
