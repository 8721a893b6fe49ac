import type {Headers} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {Log} from '../../core/log.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';

export const SESSION_HEADER = 'mcp-session-id';

/** What an id may be, so that it cannot be anything else in a header or a log. */
const VALID_ID = /^[\x21-\x7e]{1,1024}$/;

export type SessionIdOptions = {
	readonly upstream: string;
	readonly log: Log;
	/** Where the id is known, and to be known, beyond here. */
	readonly control?: {session: string | undefined} | undefined;
};

/** A request, as far as it tells which session its response is about. */
type SessionRequest = {
	readonly session: string | undefined;
	/** The number of handshakes at that time. */
	readonly handshake: number;
	readonly headers: Headers | undefined;
	readonly isInitialize: boolean;
};

/** The id that an upstream gave to its session, in whichever response. */
export class SessionId {
	readonly #options: SessionIdOptions;
	#last:
		| {readonly given: Headers | undefined; readonly session: string | undefined; readonly headers: Headers}
		| undefined;
	current: string | undefined;
	/** The number of handshakes so far. A response to an earlier request is about another session. */
	handshakes = 0;

	constructor(options: SessionIdOptions) {
		this.#options = options;
		this.current = options.control?.session;
	}

	/** A handshake begins, and with it another session. */
	reset(): void {
		this.current = undefined;
		this.handshakes++;
	}

	/** The headers with the present id, and no other one. They are the same object each time. */
	headersWith(base: Headers | undefined, session: string | undefined): Headers {
		if (this.#last && this.#last.given === base && this.#last.session === session) return this.#last.headers;
		const {[SESSION_HEADER]: _other, ...rest} = base ?? {};
		const headers = session === undefined ? rest : {...rest, [SESSION_HEADER]: session};
		this.#last = {given: base, session, headers};
		return headers;
	}

	/** The headers of the last request, with the present id. */
	latestHeaders(): Headers {
		return this.headersWith(this.#last?.given, this.current);
	}

	/**
	 * Stores an id that came with a response to this request, unless that was sent in an earlier session. Without a handshake
	 * there are no sessions.
	 */
	storeFromResponse(
		session: string,
		{session: sent, handshake, headers, isInitialize}: SessionRequest,
	): BridgeError | undefined {
		const isStateless = headers?.['mcp-method'] !== undefined;
		if (handshake !== this.handshakes || session === sent || isStateless) return;
		return this.store(session, isInitialize);
	}

	/** Stores an id. An invalid one is an error in a handshake; later, the id from before stays in use. */
	store(session: string, isHandshake: boolean): BridgeError | undefined {
		const {upstream, log, control} = this.#options;
		if (VALID_ID.test(session)) {
			this.current = session;
			if (control) control.session = session;
			return;
		}
		const what = `${upstream} sent an invalid session id`;
		const sentence = isHandshake ? `${what}.` : `${what}; the present one stays in use.`;
		warnRateLimited(
			log,
			'session.id.refused',
			sentence,
			{server: upstream, length: session.length},
			upstream,
		);
		if (!isHandshake) return;
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${what}.`,
			'Report it to the author of that server: an id has 1 to 1024 visible ASCII characters.',
		);
	}
}
