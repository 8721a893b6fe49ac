import {randomBytes} from 'node:crypto';
import type {Envelope} from '../envelope.js';
import {ownInfo} from '../own-version.js';
import type {JsonObject} from './json.js';
import {BATCHES, type HandshakeVersion, MODERN, NEWEST_HANDSHAKE, spokenBy, type Version} from './version.js';

export type SessionOptions = {
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
export type Touching = {readonly calls: number; readonly results: number; readonly errors: number};

const same = (envelope: Envelope): Envelope => envelope;

const untouched: Touching = {calls: 0, results: 0, errors: 0};

/** How far a conversation has come, where both have shaken hands. */
export type Standing = {
	readonly client: Version;
	readonly upstream: Version;
	/** Whether the upstream is only taken to speak that. */
	readonly isUnsure: boolean;
	/** What the client can do. */
	readonly capabilities: JsonObject;
};

/** Who a client is, and what it can do. */
export type Introduction = {readonly info: JsonObject; readonly capabilities: JsonObject};

/**
 * What is known of one conversation: who speaks which version, and what they said of themselves. A new connection is a
 * new one.
 */
export class Session {
	readonly options: SessionOptions;
	clientInfo: JsonObject = ownInfo;
	clientCapabilities: JsonObject = {};
	/** What the upstream answered to `initialize`, as this client may be told. */
	initializeResult: JsonObject | undefined;
	/** What the upstream said that it speaks, which need not be a version that there is. */
	answeredVersion: string | undefined;
	/** The transport in use, where it is not the configured one. */
	transport: string | undefined;
	/** Logs a connection that was made again, by the result of its handshake. */
	reportRenewal: (result: JsonObject, durationMs?: number) => void = () => {};
	/** What could not be carried, and how often. */
	readonly losses = new Map<string, number>();
	/** Whether it was begun elsewhere. */
	isResumed = false;
	/** Another one whenever somebody turns out to speak something else. */
	epoch = 0;
	/** Whether there is nothing left to do but to translate: both have shaken hands, or neither wants to. */
	isSettled = false;
	/** Whether there is not even that. */
	isPlain = false;
	/** What a call of a tool, and its answer, must have in them to be changed, if that is known; else everybody has to look. */
	touching: Touching | undefined;
	/**
	 * Has a message of the client translated for the version that the upstream speaks now, where it was translated for
	 * another one before. A message that this version has no word for is answered instead.
	 */
	translate: (envelope: Envelope, answer: (back: Envelope) => void) => Envelope | undefined = same;
	/** Whether the request with this id waits in front of the upstream, and was not sent to it. */
	holds: (id: string) => boolean = () => false;
	/** What a translator has told of itself. */
	#translated: Touching | undefined;
	#client: Version | undefined;
	#upstream: Version | undefined;
	#isUnsure = false;
	#offersTasks = false;
	#isReady = false;
	#isOver = false;
	readonly #prefix = `bridge-${randomBytes(4).toString('hex')}`;
	#ids = 0;
	/** What is to be done when the handshake is complete: one thing a stage that waits for it. */
	readonly #whenReady: Array<() => void> = [];

	constructor(options: SessionOptions) {
		this.options = options;
	}

	/** What the client speaks: what it was told, unless it is modern. */
	get client(): Version | undefined {
		return this.#client;
	}

	/** What the upstream speaks. */
	get upstream(): Version | undefined {
		return this.#upstream;
	}

	/** Whether the handshake with the upstream is complete. */
	get isReady(): boolean {
		return this.#isReady;
	}

	/** The handshake version that the client is spoken to in: a modern one looks like the newest of them. */
	get clientFace(): HandshakeVersion | undefined {
		return this.#client === MODERN ? NEWEST_HANDSHAKE : this.#client;
	}

	get upstreamFace(): HandshakeVersion | undefined {
		return this.#upstream === MODERN ? NEWEST_HANDSHAKE : this.#upstream;
	}

	/** Whether what one side says may not be what the other understands. */
	get needsTranslation(): boolean {
		const {isStrict = false} = this.options;
		return this.#client === undefined || this.#client !== this.#upstream || this.#isUnsure || isStrict;
	}

	/** Whether the client has no word for tasks that the upstream may want to work in. */
	get needsPolling(): boolean {
		return this.#offersTasks && (this.#client !== NEWEST_HANDSHAKE || this.options.isHub === true);
	}

	/** The client speaks this, or nobody knows any more. */
	clientBecame(version: Version | undefined, {info, capabilities}: Partial<Introduction> = {}): void {
		this.#client = version;
		this.#begin();
		this.clientInfo = info ?? this.clientInfo;
		this.clientCapabilities = capabilities ?? this.clientCapabilities;
		this.#reckon();
	}

	/** The upstream speaks this, or is only taken to. */
	upstreamBecame(version: Version | undefined, isUnsure = false): void {
		this.#upstream = version;
		this.#begin();
		this.#isUnsure = isUnsure;
		this.#reckon();
	}

	/** The upstream has said whether it works in tasks. */
	tasksOffered(isOffered: boolean): void {
		this.#offersTasks = isOffered;
		this.#reckon();
	}

	/** The handshake with the upstream is complete; and over, if the client will not come back to it. */
	ready(isOver: boolean): void {
		this.#isReady = true;
		this.#isOver = isOver;
		this.#reckon();
		for (const proceed of this.#whenReady.splice(0)) proceed();
	}

	/**
	 * What somebody else has to know to carry the conversation on. Undefined where that is not all: what was learnt of tools
	 * on the way is only known here.
	 */
	standing(): Standing | undefined {
		const [client, upstream, isUnsure] = [this.#client, this.#upstream, this.#isUnsure];
		if (client === undefined || upstream === undefined || this.needsPolling) return;
		if (client === MODERN || upstream === MODERN) return;
		return {client, upstream, isUnsure, capabilities: this.clientCapabilities};
	}

	/** Carries a conversation on that was begun elsewhere. */
	resume({client, upstream, isUnsure, capabilities}: Standing, hasTools: boolean): void {
		this.isResumed = true;
		this.clientBecame(client, {capabilities});
		this.upstreamBecame(upstream, isUnsure);
		this.answeredVersion = upstream;
		this.initializeResult = {capabilities: hasTools ? {tools: {}} : {}};
		this.ready(true);
	}

	/** Runs `proceed` now when the handshake with the upstream is complete, else once it is. */
	whenReady(proceed: () => void): void {
		if (this.#isReady) proceed();
		else this.#whenReady.push(proceed);
	}

	/** The upstream has responded to a new handshake, perhaps with another version. */
	renewed(result: JsonObject, durationMs?: number): void {
		const {protocolVersion: answered} = result;
		const spoken = spokenBy(answered);
		this.answeredVersion = typeof answered === 'string' ? answered : undefined;
		const isUnsure = spoken?.problem !== undefined;
		if (spoken && (spoken.version !== this.#upstream || isUnsure !== this.#isUnsure))
			this.upstreamBecame(spoken.version, isUnsure);
		this.reportRenewal(result, durationMs);
	}

	/** An id for a request of bridge's own. */
	ownId(): string {
		return `${this.#prefix}-${++this.#ids}`;
	}

	/** Somebody speaks something else now, so there is another translator to come. */
	#begin(): void {
		this.epoch++;
		this.#translated = undefined;
	}

	/** There is a translator, which changes no calls and answers but such. */
	translates(touching: Touching): void {
		this.#translated = touching;
		this.#reckon();
	}

	#reckon(): void {
		const isOneEra = (this.#client === MODERN) === (this.#upstream === MODERN);
		this.isSettled = this.#isReady && this.#isOver && isOneEra && !this.needsPolling;
		this.isPlain = this.isSettled && !this.needsTranslation;
		const mayBePart = this.#client === BATCHES;
		if (this.isSettled && !mayBePart) this.touching = this.isPlain ? untouched : this.#translated;
		else this.touching = undefined;
	}
}

/** Whether a message needs no more than a translation. A new handshake always needs more. */
export const isSettledFor =
	(session: Session) =>
	({head}: {readonly head: {readonly method: string | undefined}}): boolean =>
		session.isSettled && head.method !== 'initialize';
