import {randomBytes} from 'node:crypto';
import type {JsonObject} from './json.js';
import {type HandshakeVersion, MODERN, NEWEST_HANDSHAKE, type Version} from './version.js';

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
};

/** What is known of one conversation: who speaks which version, and what they said of themselves. A new connection is a new one. */
export class Session {
	readonly options: SessionOptions;
	/** What the client speaks: what it was told, unless it is modern. */
	client: Version | undefined;
	/** What the upstream speaks. */
	upstream: Version | undefined;
	clientInfo: JsonObject = {name: 'bridge', version: '0'};
	clientCapabilities: JsonObject = {};
	/** What the upstream answered to `initialize`, as this client may be told. */
	initializeResult: JsonObject | undefined;
	/** Whether the upstream speaks something that it is only taken to speak. */
	isUnsure = false;
	/** Whether the handshake with the upstream is complete. */
	isReady = false;
	/** Whether the client has no word for tasks that the upstream may want to work in. */
	needsPolling = false;
	/** Whether there is nothing left to do but to translate: both have shaken hands, or neither wants to. */
	isSettled = false;
	/** Whether there is not even that. */
	isPlain = false;
	/** What could not be carried, and how often. */
	readonly losses = new Map<string, number>();
	readonly #prefix = `bridge-${randomBytes(4).toString('hex')}`;
	#ids = 0;

	constructor(options: SessionOptions) {
		this.options = options;
	}

	/** The handshake version that the client is spoken to in: a modern one looks like the newest of them. */
	get clientFace(): HandshakeVersion | undefined {
		return this.client === MODERN ? NEWEST_HANDSHAKE : this.client;
	}

	get upstreamFace(): HandshakeVersion | undefined {
		return this.upstream === MODERN ? NEWEST_HANDSHAKE : this.upstream;
	}

	/** Whether what one side says may not be what the other understands. */
	get needsTranslation(): boolean {
		const {isStrict = false} = this.options;
		return this.client === undefined || this.client !== this.upstream || this.isUnsure || isStrict;
	}

	/** An id for a request of bridge's own. */
	ownId(): string {
		return `${this.#prefix}-${++this.#ids}`;
	}

	/** To be called when the handshake is over, and nobody will come back to it. */
	settle(): void {
		const isOneEra = (this.client === MODERN) === (this.upstream === MODERN);
		this.isSettled = this.isReady && isOneEra && !this.needsPolling;
		this.isPlain = this.isSettled && !this.needsTranslation;
	}
}
