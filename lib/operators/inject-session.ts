import {performance} from 'node:perf_hooks';
import {Envelope, type MessageOrigin} from '../core/envelope.js';
import type {BridgeError} from '../core/errors.js';
import {SlotMap} from '../core/fast/slot-map.js';
import {QueuedMessages} from '../core/requests/queued.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import {SESSION_ID_CHANGED} from '../core/upstream-control.js';
import {handshakeTimeoutMs} from '../protocol/handshake-timeout.js';
import {listChangedNotifications} from '../protocol/list-changed.js';
import {isObject, type JsonObject, objectOf} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {SESSION_HEADER, SessionId, type SessionIdOptions} from './inject-session/session-id.js';

export type InjectSessionOptions = SessionIdOptions & {
	readonly nextRequestId: () => string;
	/** Called with the result of a re-initialization and its duration. */
	readonly onReinitialized?: ((result: JsonObject, durationMs: number) => void) | undefined;
	/**
	 * Translates a message of the lost session for the new one, whose upstream may use another protocol
	 * version. Returns undefined for a message that has no equivalent there. `reply` gets the response to such
	 * a request.
	 */
	readonly retranslate?: ((envelope: Envelope, reply: Emit) => Envelope | undefined) | undefined;
	/** Time limit of a re-initialization; 0 for no limit. */
	readonly handshakeMs?: number | undefined;
};

/** Bytes of an HTTP error body that are searched for the word "session". */
const MAX_SEARCHED = 4096;

type PendingSessionRequest = {
	readonly request: Envelope;
	readonly session: string | undefined;
	readonly isRetry: boolean;
	readonly handshake: number;
};

/** A re-initialization in progress, with the requests that were rejected because the session was lost. */
type Reinitialization = {
	readonly key: string;
	readonly lostSession: string | undefined;
	readonly rejected: Array<{readonly request: PendingSessionRequest; readonly errorResponse: Envelope}>;
	readonly timer: NodeJS.Timeout | undefined;
	readonly since: number;
};

/**
 * Stores the session id from any HTTP response of the upstream, and adds it to all later requests.
 *
 * When the upstream has lost the session, it is re-initialized once, and the rejected requests are retried
 * once. A retry is safe, because the upstream did not execute a request of an unknown session.
 */
export function injectSession(options: InjectSessionOptions): Stage {
	return stage(out => new SessionInjector(options, out));
}

class SessionInjector implements StageSteps {
	readonly #options: InjectSessionOptions;
	readonly #out: StageOutputs;
	readonly #pending = new SlotMap<string, PendingSessionRequest>();
	readonly #queued = new QueuedMessages();
	readonly #id: SessionId;
	#initializeRequest: Envelope | undefined;
	#initializedNotification: Envelope | undefined;
	#reinitialization: Reinitialization | undefined;
	/** The list_changed notifications that the client gets after a re-initialization. */
	#listNotifications: Envelope[] = [];

	constructor(options: InjectSessionOptions, out: StageOutputs) {
		this.#options = options;
		this.#out = out;
		this.#id = new SessionId(options);
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {method} = envelope.head;
		if (method === 'notifications/cancelled' && this.#handleCancelled(envelope)) return;
		if (method === 'initialize') {
			this.#id.reset();
			this.#initializeRequest = envelope;
		} else if (method === 'notifications/initialized') this.#initializedNotification = envelope;
		else if (this.#reinitialization) {
			this.#queued.add(envelope);
			return;
		}
		return this.#withSession(envelope, false);
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method === undefined && key !== undefined) return this.#handleResponse(envelope, key);
		if (method === SESSION_ID_CHANGED && !envelope.original.isReceived)
			return this.#sessionAssigned(envelope);
		return this.#storeSession(envelope.origin, undefined) ? undefined : envelope;
	};

	#handleResponse(envelope: Envelope, key: string): Envelope | undefined {
		const request = this.#pending.take(key);
		const isLost = request !== undefined && this.#isLost(envelope, request);
		const error = isLost ? undefined : this.#storeSession(envelope.origin, request);
		if (error) return Envelope.errorResponse(envelope.head.id, error, envelope.origin);
		if (key === this.#reinitialization?.key)
			return this.#reinitialized(envelope.head.flaw === undefined ? envelope.body.result : undefined);
		if (isLost) return this.#reinitialize(request, envelope);
		if (this.#listNotifications.length > 0 && request?.session === this.#id.current)
			this.#sendListNotifications();
		return envelope;
	}

	/** Waits for the first response in the new session, because an HTTP error cannot follow a notification. */
	#sendListNotifications(): void {
		const notifications = this.#listNotifications;
		this.#listNotifications = [];
		for (const notification of notifications) this.#out.toClient(notification);
	}

	readonly teardown = (): void => {
		clearTimeout(this.#reinitialization?.timer);
		this.#queued.drain();
	};

	/** Drops a cancelled request. Returns whether it was queued, so that the cancellation is dropped, too. */
	#handleCancelled({bytes}: Envelope): boolean {
		const id = memberText(bytes, 'params', 'requestId');
		if (id === undefined) return false;
		const key = canonicalId(id);
		this.#pending.delete(key);
		const {rejected = []} = this.#reinitialization ?? {};
		const at = rejected.findIndex(({request}) => request.request.head.key === key);
		if (at !== -1) rejected.splice(at, 1);
		return at !== -1 || this.#queued.remove(id);
	}

	#withSession(envelope: Envelope, isRetry: boolean): Envelope {
		const {key, method} = envelope.head;
		const session = method === 'initialize' ? undefined : this.#id.current;
		envelope.headers = this.#id.headersWith(envelope.headers, session);
		if (key !== undefined && method !== undefined)
			this.#pending.set(key, {request: envelope, session, isRetry, handshake: this.#id.handshakes});
		return envelope;
	}

	#storeSession(
		{headers, relatedRequestId: requestId}: MessageOrigin,
		request: PendingSessionRequest | undefined,
	): BridgeError | undefined {
		const session = headers?.[SESSION_HEADER];
		const before = this.#id.current;
		if (session === undefined || session === before) return;
		const cause =
			request ?? (requestId === undefined ? undefined : this.#pending.get(canonicalId(requestId)));
		if (!cause) return before === undefined ? this.#id.store(session, true) : undefined;
		const isInitialize = cause.request.head.method === 'initialize';
		const error = this.#id.storeFromResponse(session, {
			...cause,
			headers: cause.request.headers,
			isInitialize,
		});
		if (!isInitialize && this.#id.current !== before) this.#sendSessionId();
		return error;
	}

	/** Stores an id from an HTTP response without a message. */
	#sessionAssigned({origin: {headers}, body}: Envelope): undefined {
		const before = this.#id.current;
		if (objectOf(body.params).sent !== before || this.#reinitialization) return;
		this.#id.store(headers?.[SESSION_HEADER] ?? '', false);
		if (this.#id.current !== before) this.#sendSessionId();
	}

	/** Sends the new id to the upstream endpoint, which needs it for its GET stream and for DELETE. */
	#sendSessionId(): void {
		const notification = Envelope.of({jsonrpc: '2.0', method: SESSION_ID_CHANGED});
		notification.headers = this.#id.latestHeaders();
		this.#out.toUpstream(notification);
	}

	#isLost({origin: {errorReply}}: Envelope, {session}: PendingSessionRequest): boolean {
		// Another replica may have ended a shared session, so that its client has to re-initialize.
		if (!errorReply || session === undefined || !this.#initializeRequest || this.#options.control)
			return false;
		const {status, body} = errorReply;
		return status === 404 || (status === 400 && /session/i.test(body.toString('latin1', 0, MAX_SEARCHED)));
	}

	#reinitialize(request: PendingSessionRequest, errorResponse: Envelope): Envelope | undefined {
		if (request.isRetry) return errorResponse;
		if (this.#reinitialization) {
			this.#reinitialization.rejected.push({request, errorResponse});
			return;
		}
		if (request.session !== this.#id.current) {
			this.#retry(request);
			return;
		}
		const {upstream, log, nextRequestId} = this.#options;
		log.info('session.lost', `${upstream} lost the session; re-initializing.`, {server: upstream});
		const id = JSON.stringify(nextRequestId());
		const {handshakeMs = handshakeTimeoutMs()} = this.#options;
		const timer =
			handshakeMs === 0 ? undefined : setTimeout(() => this.#reinitialized(undefined), handshakeMs).unref();
		this.#reinitialization = {
			key: canonicalId(id),
			lostSession: this.#id.current,
			rejected: [{request, errorResponse}],
			timer,
			since: performance.now(),
		};
		if (this.#initializeRequest) {
			const initialize = this.#initializeRequest.withId(id);
			initialize.headers = this.#initializeRequest.headers;
			this.#id.reset();
			this.#out.toUpstream(this.#withSession(initialize, true));
		}
	}

	#retry({request}: PendingSessionRequest): void {
		this.#resend(request, true);
	}

	#resend(envelope: Envelope, isRetry: boolean): void {
		const {retranslate} = this.#options;
		const current = retranslate ? retranslate(envelope, this.#out.toClient) : envelope;
		if (current) this.#out.toUpstream(this.#withSession(current, isRetry));
	}

	/** Ends the re-initialization with the result of the upstream; undefined for an error or a timeout. */
	#reinitialized(result: unknown): undefined {
		const {rejected = [], timer, lostSession: session, since = 0} = this.#reinitialization ?? {};
		clearTimeout(timer);
		this.#reinitialization = undefined;
		if (isObject(result)) {
			this.#options.onReinitialized?.(result, performance.now() - since);
			if (this.#initializedNotification) this.#resend(this.#initializedNotification, true);
			for (const {request} of rejected) this.#retry(request);
			this.#listNotifications = listChangedNotifications(result);
		} else {
			// The next request is rejected again, and starts another re-initialization.
			this.#id.current ??= session;
			for (const {errorResponse} of rejected) this.#out.toClient(errorResponse);
		}
		for (const queued of this.#queued.drain()) this.#resend(queued, false);
	}
}
