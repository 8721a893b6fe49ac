import {performance} from 'node:perf_hooks';
import {Envelope, type Origin} from '../envelope.js';
import type {BridgeError} from '../errors.js';
import {handshakeLimit} from '../handshake-limit.js';
import {HeldMessages} from '../held-messages.js';
import {listsChanged} from '../lists-changed.js';
import {PassingMap} from '../passing-map.js';
import {isObject, type JsonObject, objectOf} from '../protocol/json.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {SESSION} from '../transports/carriage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {HEADER, SessionId, type SessionIdOptions} from './session-id.js';

export type InjectSessionOptions = SessionIdOptions & {
	/** An id for a request of bridge's own. */
	readonly ownId: () => string;
	/** The server had lost the session, and this is its response to a new handshake, which took this long. */
	readonly onRenewed?: ((result: JsonObject, durationMs: number) => void) | undefined;
	/**
	 * What is said in the new session, of what was meant for the one that is lost: the server may be another one by now, and
	 * speak another version. What is nothing any more was answered by who says so.
	 */
	readonly again?: ((envelope: Envelope, answer: Answer) => Envelope | undefined) | undefined;
	/** How long a server may take to respond to a new handshake; 0 for no limit. */
	readonly handshakeMs?: number | undefined;
};

/** How much of a refusal is searched for what it is about. */
const MAX_SEARCHED = 4096;

/** A request that the server has not answered. */
type Asked = {
	readonly request: Envelope;
	readonly session: string | undefined;
	readonly isRepeated: boolean;
	readonly handshake: number;
};

/** A handshake that is under way because the session was lost, and what was refused for that reason. */
type Renewal = {
	readonly key: string;
	/** The session that was lost. */
	readonly session: string | undefined;
	readonly lost: Array<{readonly asked: Asked; readonly refusal: Envelope}>;
	readonly patience: NodeJS.Timeout | undefined;
	readonly since: number;
};

/**
 * Stores the id that a server behind HTTP gives to the session, in any of its responses, and adds it to all later requests.
 *
 * When the server has lost the session, it is shaken hands with again, once for all who noticed, and what it refused for
 * that reason is asked again, once. It was not carried out: that is what the refusal says.
 */
export function injectSession(options: InjectSessionOptions): Stage {
	return stage(out => new SessionKeeper(options, out));
}

class SessionKeeper implements Steps {
	readonly #options: InjectSessionOptions;
	readonly #out: Outlets;
	readonly #asked = new PassingMap<string, Asked>();
	readonly #held = new HeldMessages();
	readonly #id: SessionId;
	#greeting: Envelope | undefined;
	#completion: Envelope | undefined;
	#renewal: Renewal | undefined;
	/** What the client is to hear of a server that came back. */
	#news: Envelope[] = [];

	constructor(options: InjectSessionOptions, out: Outlets) {
		this.#options = options;
		this.#out = out;
		this.#id = new SessionId(options);
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {method} = envelope.head;
		if (method === 'notifications/cancelled' && this.#forget(envelope)) return;
		if (method === 'initialize') {
			this.#id.begin();
			this.#greeting = envelope;
		} else if (method === 'notifications/initialized') this.#completion = envelope;
		else if (this.#renewal) {
			this.#held.add(envelope);
			return;
		}
		return this.#withSession(envelope, false);
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method === undefined && key !== undefined) return this.#answered(envelope, key);
		if (method === SESSION && !envelope.original.isReceived) return this.#named(envelope);
		return this.#remember(envelope.origin, undefined) ? undefined : envelope;
	};

	#answered(envelope: Envelope, key: string): Envelope | undefined {
		const asked = this.#asked.take(key);
		const isLost = asked !== undefined && this.#isLost(envelope, asked);
		const problem = isLost ? undefined : this.#remember(envelope.origin, asked);
		if (problem) return Envelope.failure(envelope.head.id, problem, envelope.origin);
		if (key === this.#renewal?.key)
			return this.#renewed(envelope.head.flaw === undefined ? envelope.body.result : undefined);
		if (isLost) return this.#renew(asked, envelope);
		if (this.#news.length > 0 && asked?.session === this.#id.current) this.#tellNews();
		return envelope;
	}

	/** Comes with the first answer in the new session: until then a refusal may follow, which nothing may precede. */
	#tellNews(): void {
		const news = this.#news;
		this.#news = [];
		for (const notice of news) this.#out.toClient(notice);
	}

	readonly stopped = (): void => {
		clearTimeout(this.#renewal?.patience);
		this.#held.takeAll();
	};

	/**
	 * Nobody waits for the answer to a request that was cancelled. Returns whether it waits for a new session, in which the
	 * server is not even to hear of it.
	 */
	#forget({bytes}: Envelope): boolean {
		const id = memberText(bytes, 'params', 'requestId');
		if (id === undefined) return false;
		const key = canonicalId(id);
		this.#asked.delete(key);
		const {lost = []} = this.#renewal ?? {};
		const at = lost.findIndex(({asked}) => asked.request.head.key === key);
		if (at !== -1) lost.splice(at, 1);
		return at !== -1 || this.#held.remove(id);
	}

	#withSession(envelope: Envelope, isRepeated: boolean): Envelope {
		const {key, method} = envelope.head;
		const session = method === 'initialize' ? undefined : this.#id.current;
		envelope.headers = this.#id.headersWith(envelope.headers, session);
		if (key !== undefined && method !== undefined)
			this.#asked.set(key, {request: envelope, session, isRepeated, handshake: this.#id.handshakes});
		return envelope;
	}

	/** Stores the id that came with a message. */
	#remember({headers, within}: Origin, asked: Asked | undefined): BridgeError | undefined {
		const session = headers?.[HEADER];
		const before = this.#id.current;
		if (session === undefined || session === before) return;
		const cause = asked ?? (within === undefined ? undefined : this.#asked.get(canonicalId(within)));
		if (!cause) return before === undefined ? this.#id.store(session, true) : undefined;
		const isInitialize = cause.request.head.method === 'initialize';
		const problem = this.#id.take(session, {...cause, headers: cause.request.headers, isInitialize});
		if (!isInitialize && this.#id.current !== before) this.#announce();
		return problem;
	}

	/** An id came with a response that has no message. */
	#named({origin: {headers}, body}: Envelope): undefined {
		const before = this.#id.current;
		if (objectOf(body.params).sent !== before || this.#renewal) return;
		this.#id.store(headers?.[HEADER] ?? '', false);
		if (this.#id.current !== before) this.#announce();
	}

	/** The end of the connection needs the new id, too: for its stream, and for the end of the session. */
	#announce(): void {
		const word = Envelope.of({jsonrpc: '2.0', method: SESSION});
		word.headers = this.#id.latestHeaders();
		this.#out.toUpstream(word);
	}

	#isLost({origin: {refusal}}: Envelope, {session}: Asked): boolean {
		// One that other replicas know, too, may have been ended there: its client is told, and begins anew.
		if (!refusal || session === undefined || !this.#greeting || this.#options.carriage) return false;
		const {status, body} = refusal;
		return status === 404 || (status === 400 && /session/i.test(body.toString('latin1', 0, MAX_SEARCHED)));
	}

	/** The server does not know the session. */
	#renew(asked: Asked, refusal: Envelope): Envelope | undefined {
		if (asked.isRepeated) return refusal;
		if (this.#renewal) {
			this.#renewal.lost.push({asked, refusal});
			return;
		}
		if (asked.session !== this.#id.current) {
			this.#repeat(asked);
			return;
		}
		const {upstream, log, ownId} = this.#options;
		log.info('session.lost', `${upstream} has lost the session; hands are shaken again.`, {server: upstream});
		const id = JSON.stringify(ownId());
		const {handshakeMs = handshakeLimit()} = this.#options;
		const patience =
			handshakeMs === 0 ? undefined : setTimeout(() => this.#renewed(undefined), handshakeMs).unref();
		this.#renewal = {
			key: canonicalId(id),
			session: this.#id.current,
			lost: [{asked, refusal}],
			patience,
			since: performance.now(),
		};
		if (this.#greeting) {
			const greeting = this.#greeting.withId(id);
			greeting.headers = this.#greeting.headers;
			this.#id.begin();
			this.#out.toUpstream(this.#withSession(greeting, true));
		}
	}

	#repeat({request}: Asked): void {
		this.#sayAgain(request, true);
	}

	#sayAgain(envelope: Envelope, isRepeated: boolean): void {
		const {again} = this.#options;
		const present = again ? again(envelope, this.#out.toClient) : envelope;
		if (present) this.#out.toUpstream(this.#withSession(present, isRepeated));
	}

	/** The server has answered the new handshake, or will not. */
	#renewed(result: unknown): undefined {
		const {lost = [], patience, session, since = 0} = this.#renewal ?? {};
		clearTimeout(patience);
		this.#renewal = undefined;
		if (isObject(result)) {
			this.#options.onRenewed?.(result, performance.now() - since);
			if (this.#completion) this.#sayAgain(this.#completion, true);
			for (const {asked} of lost) this.#repeat(asked);
			this.#news = listsChanged(result);
		} else {
			// Whoever asks next finds out again that it is lost, and tries again.
			this.#id.current ??= session;
			for (const {refusal} of lost) this.#out.toClient(refusal);
		}
		for (const held of this.#held.takeAll()) this.#sayAgain(held, false);
	}
}
