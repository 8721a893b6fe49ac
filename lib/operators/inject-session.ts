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
	/** An id for a request of bridge's own. */
	readonly nextRequestId: () => string;
	/** The server had lost the session, and this is its response to a new handshake, which took this long. */
	readonly onReinitialized?: ((result: JsonObject, durationMs: number) => void) | undefined;
	/**
	 * What is said in the new session, of what was meant for the one that is lost: the server may be another one by now, and
	 * speak another version. What is nothing any more was answered by who says so.
	 */
	readonly retranslate?: ((envelope: Envelope, answer: Emit) => Envelope | undefined) | undefined;
	/** How long a server may take to respond to a new handshake; 0 for no limit. */
	readonly handshakeMs?: number | undefined;
};

/** How much of a refusal is searched for what it is about. */
const MAX_SEARCHED = 4096;

/** A request that the server has not answered. */
type PendingSessionRequest = {
	readonly request: Envelope;
	readonly session: string | undefined;
	readonly isRetry: boolean;
	readonly handshake: number;
};

/** A handshake that is under way because the session was lost, and what was refused for that reason. */
type Reinitialization = {
	readonly key: string;
	/** The session that was lost. */
	readonly lostSession: string | undefined;
	readonly rejected: Array<{readonly asked: PendingSessionRequest; readonly refusal: Envelope}>;
	readonly timer: NodeJS.Timeout | undefined;
	readonly since: number;
};

/**
 * Stores the id that a server behind HTTP gives to the session, in any of its responses, and adds it to all later requests.
 *
 * When the server has lost the session, it is shaken hands with again, once for all who noticed, and what it refused for
 * that reason is asked again, once. It was not carried out: that is what the refusal says.
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
	/** What the client is to hear of a server that came back. */
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

	/** Comes with the first answer in the new session: until then a refusal may follow, which nothing may precede. */
	#sendListNotifications(): void {
		const notifications = this.#listNotifications;
		this.#listNotifications = [];
		for (const notice of notifications) this.#out.toClient(notice);
	}

	readonly teardown = (): void => {
		clearTimeout(this.#reinitialization?.timer);
		this.#queued.drain();
	};

	/**
	 * Nobody waits for the answer to a request that was cancelled. Returns whether it waits for a new session, in which the
	 * server is not even to hear of it.
	 */
	#handleCancelled({bytes}: Envelope): boolean {
		const id = memberText(bytes, 'params', 'requestId');
		if (id === undefined) return false;
		const key = canonicalId(id);
		this.#pending.delete(key);
		const {rejected = []} = this.#reinitialization ?? {};
		const at = rejected.findIndex(({asked}) => asked.request.head.key === key);
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

	/** Stores the id that came with a message. */
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

	/** An id came with a response that has no message. */
	#sessionAssigned({origin: {headers}, body}: Envelope): undefined {
		const before = this.#id.current;
		if (objectOf(body.params).sent !== before || this.#reinitialization) return;
		this.#id.store(headers?.[SESSION_HEADER] ?? '', false);
		if (this.#id.current !== before) this.#sendSessionId();
	}

	/** The end of the connection needs the new id, too: for its stream, and for the end of the session. */
	#sendSessionId(): void {
		const notification = Envelope.of({jsonrpc: '2.0', method: SESSION_ID_CHANGED});
		notification.headers = this.#id.latestHeaders();
		this.#out.toUpstream(notification);
	}

	#isLost({origin: {errorReply: refusal}}: Envelope, {session}: PendingSessionRequest): boolean {
		// One that other replicas know, too, may have been ended there: its client is told, and begins anew.
		if (!refusal || session === undefined || !this.#initializeRequest || this.#options.control) return false;
		const {status, body} = refusal;
		return status === 404 || (status === 400 && /session/i.test(body.toString('latin1', 0, MAX_SEARCHED)));
	}

	/** The server does not know the session. */
	#reinitialize(request: PendingSessionRequest, refusal: Envelope): Envelope | undefined {
		if (request.isRetry) return refusal;
		if (this.#reinitialization) {
			this.#reinitialization.rejected.push({asked: request, refusal});
			return;
		}
		if (request.session !== this.#id.current) {
			this.#retry(request);
			return;
		}
		const {upstream, log, nextRequestId} = this.#options;
		log.info('session.lost', `${upstream} has lost the session; hands are shaken again.`, {server: upstream});
		const id = JSON.stringify(nextRequestId());
		const {handshakeMs = handshakeTimeoutMs()} = this.#options;
		const timer =
			handshakeMs === 0 ? undefined : setTimeout(() => this.#reinitialized(undefined), handshakeMs).unref();
		this.#reinitialization = {
			key: canonicalId(id),
			lostSession: this.#id.current,
			rejected: [{asked: request, refusal}],
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

	/** The server has answered the new handshake, or will not. */
	#reinitialized(result: unknown): undefined {
		const {rejected = [], timer, lostSession: session, since = 0} = this.#reinitialization ?? {};
		clearTimeout(timer);
		this.#reinitialization = undefined;
		if (isObject(result)) {
			this.#options.onReinitialized?.(result, performance.now() - since);
			if (this.#initializedNotification) this.#resend(this.#initializedNotification, true);
			for (const {asked} of rejected) this.#retry(asked);
			this.#listNotifications = listChangedNotifications(result);
		} else {
			// Whoever asks next finds out again that it is lost, and tries again.
			this.#id.current ??= session;
			for (const {refusal} of rejected) this.#out.toClient(refusal);
		}
		for (const queued of this.#queued.drain()) this.#resend(queued, false);
	}
}
