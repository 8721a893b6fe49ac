import type {Headers} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {Log} from '../../core/log.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';

export const SESSION_HEADER = 'mcp-session-id';

/** Visible ASCII only, so that an id cannot break out of a header or a log line. */
const VALID_ID = /^[\x21-\x7e]{1,1024}$/;

export type SessionIdOptions = {
	readonly upstream: string;
	readonly log: Log;
	/** Shares the id with the rest of the gateway. */
	readonly control?: {session: string | undefined} | undefined;
};

/** The part of a request that identifies the session of its response. */
type SessionRequest = {
	readonly session: string | undefined;
	/** The number of handshakes when the request was sent. */
	readonly handshake: number;
	readonly headers: Headers | undefined;
	readonly isInitialize: boolean;
};

/** The session id of an upstream. Any of its responses may set it. */
export class SessionId {
	readonly #options: SessionIdOptions;
	#last:
		| {readonly base: Headers | undefined; readonly session: string | undefined; readonly headers: Headers}
		| undefined;
	current: string | undefined;
	/** The number of handshakes so far. A response to an earlier request belongs to another session. */
	handshakes = 0;

	constructor(options: SessionIdOptions) {
		this.#options = options;
		this.current = options.control?.session;
	}

	reset(): void {
		this.current = undefined;
		this.handshakes++;
	}

	/** The headers with this session id only. Returns the same object while the arguments are unchanged. */
	headersWith(base: Headers | undefined, session: string | undefined): Headers {
		if (this.#last && this.#last.base === base && this.#last.session === session) return this.#last.headers;
		const {[SESSION_HEADER]: _other, ...rest} = base ?? {};
		const headers = session === undefined ? rest : {...rest, [SESSION_HEADER]: session};
		this.#last = {base, session, headers};
		return headers;
	}

	latestHeaders(): Headers {
		return this.headersWith(this.#last?.base, this.current);
	}

	/**
	 * Stores the id of a response to this request, unless the request was sent in an earlier session. Stateless
	 * requests have no session.
	 */
	storeFromResponse(
		session: string,
		{session: sent, handshake, headers, isInitialize}: SessionRequest,
	): BridgeError | undefined {
		const isStateless = headers?.['mcp-method'] !== undefined;
		if (handshake !== this.handshakes || session === sent || isStateless) return;
		return this.store(session, isInitialize);
	}

	/** Stores an id. An invalid id fails a handshake; later it is ignored. */
	store(session: string, isHandshake: boolean): BridgeError | undefined {
		const {upstream, log, control} = this.#options;
		if (VALID_ID.test(session)) {
			this.current = session;
			if (control) control.session = session;
			return;
		}
		const what = `${upstream} sent an invalid session id`;
		const message = isHandshake ? `${what}.` : `${what}; the current id stays in use.`;
		warnRateLimited(log, 'session.id.refused', message, {server: upstream, length: session.length}, upstream);
		if (!isHandshake) return;
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${what}.`,
			'Report it to the author of that server: an id has 1 to 1024 visible ASCII characters.',
		);
	}
}
