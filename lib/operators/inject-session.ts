import {Envelope, type Headers, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {HeldMessages} from '../held-messages.js';
import {listsChanged} from '../lists-changed.js';
import type {Log} from '../log.js';
import {PassingMap} from '../passing-map.js';
import {isObject, type JsonObject} from '../protocol/json.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';

export type InjectSessionOptions = {
	readonly upstream: string;
	readonly log: Log;
	/** An id for a request of bridge's own. */
	readonly ownId: () => string;
	/** The server had lost the session, and this is what it answered to a new handshake. */
	readonly onRenewed?: ((result: JsonObject) => void) | undefined;
	/**
	 * What is said in the new session, of what was meant for the one that is lost: the server may be another one by now, and
	 * speak another version. What is nothing any more was answered by who says so.
	 */
	readonly again?: ((envelope: Envelope, answer: Answer) => Envelope | undefined) | undefined;
	/** Where the id is known, and to be known, beyond here. */
	readonly carriage?: {session: string | undefined} | undefined;
};

/** How much of a refusal is searched for what it is about. */
const MAX_SEARCHED = 4096;
const HEADER = 'mcp-session-id';
/** What an id may be, so that it cannot be anything else in a header or a log. */
const SOUND = /^[\x21-\x7e]{1,1024}$/;

/** A request that the server has not answered. */
type Asked = {readonly request: Envelope; readonly session: string | undefined; readonly isRepeated: boolean};

/** A handshake that is under way because the session was lost, and what was refused for that reason. */
type Renewal = {
	readonly key: string;
	/** The session that was lost. */
	readonly session: string | undefined;
	readonly lost: Array<{readonly asked: Asked; readonly refusal: Envelope}>;
	readonly patience: NodeJS.Timeout;
};

/** How long a server may take to answer a new handshake. */
const GREETING_MS = 60_000;

/**
 * Remembers the id that a server behind HTTP has given to the session, and puts it on all that follows.
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
	#session: string | undefined;
	#last:
		| {readonly given: Headers | undefined; readonly session: string | undefined; readonly headers: Headers}
		| undefined;
	#greeting: Envelope | undefined;
	#completion: Envelope | undefined;
	#renewal: Renewal | undefined;
	/** What the client is to hear of a server that came back. */
	#news: Envelope[] = [];

	constructor(options: InjectSessionOptions, out: Outlets) {
		this.#options = options;
		this.#out = out;
		this.#session = options.carriage?.session;
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		const {method} = envelope.head;
		if (method === 'notifications/cancelled' && this.#forget(envelope)) return;
		if (method === 'initialize') {
			this.#session = undefined;
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
		const isAnswer = method === undefined && key !== undefined;
		const asked = isAnswer ? this.#asked.get(key) : undefined;
		if (asked) this.#asked.delete(key ?? '');
		const problem = this.#remember(envelope.origin, asked);
		if (problem) return isAnswer ? Envelope.failure(envelope.head.id, problem, envelope.origin) : undefined;
		if (isAnswer && key === this.#renewal?.key)
			return this.#renewed(envelope.head.flaw === undefined ? envelope.body.result : undefined);
		if (asked && this.#isLost(envelope, asked)) return this.#renew(asked, envelope);
		if (this.#news.length > 0 && asked?.session === this.#session) this.#tellNews();
		return envelope;
	};

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
		const session = method === 'initialize' ? undefined : this.#session;
		envelope.headers = this.#headersWith(envelope.headers, session);
		if (key !== undefined && method !== undefined)
			this.#asked.set(key, {request: envelope, session, isRepeated});
		return envelope;
	}

	/** The headers with the id of the session in them, and no other one. In a session they are the same each time. */
	#headersWith(given: Headers | undefined, session: string | undefined): Headers {
		if (this.#last && this.#last.given === given && this.#last.session === session) return this.#last.headers;
		const {[HEADER]: _other, ...rest} = given ?? {};
		const headers = session === undefined ? rest : {...rest, [HEADER]: session};
		this.#last = {given, session, headers};
		return headers;
	}

	/** Takes note of the id that came with a message, if it is one. */
	#remember({headers}: Origin, asked: Asked | undefined): BridgeError | undefined {
		const session = headers?.[HEADER];
		if (session === undefined || session === this.#session) return;
		// What is said in answer to something that was asked in a session that is lost names that session.
		if (asked ? asked.request.head.method !== 'initialize' : this.#session !== undefined) return;
		if (SOUND.test(session)) {
			this.#session = session;
			if (this.#options.carriage) this.#options.carriage.session = session;
			return;
		}
		const {upstream, log} = this.#options;
		log.warn('session.id.refused', `${upstream} gave an id to the session that cannot be one.`, {
			server: upstream,
			length: session.length,
		});
		return new BridgeError(
			'ERR_UPSTREAM_INVALID',
			`${upstream} gave an id to the session that cannot be one.`,
			'Tell whoever makes that server: an id is 1 to 1024 visible characters of ASCII.',
		);
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
		if (asked.session !== this.#session) {
			this.#repeat(asked);
			return;
		}
		const {upstream, log, ownId} = this.#options;
		log.info('session.lost', `${upstream} has lost the session; hands are shaken again.`, {server: upstream});
		const id = JSON.stringify(ownId());
		const patience = setTimeout(() => this.#renewed(undefined), GREETING_MS).unref();
		this.#renewal = {key: canonicalId(id), session: this.#session, lost: [{asked, refusal}], patience};
		if (this.#greeting) {
			const greeting = this.#greeting.withId(id);
			greeting.headers = this.#greeting.headers;
			this.#session = undefined;
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
		const {lost = [], patience, session} = this.#renewal ?? {};
		clearTimeout(patience);
		this.#renewal = undefined;
		if (isObject(result)) {
			this.#options.onRenewed?.(result);
			if (this.#completion) this.#sayAgain(this.#completion, true);
			for (const {asked} of lost) this.#repeat(asked);
			this.#news = listsChanged(result);
		} else {
			// Whoever asks next finds out again that it is lost, and tries again.
			this.#session ??= session;
			for (const {refusal} of lost) this.#out.toClient(refusal);
		}
		for (const held of this.#held.takeAll()) this.#sayAgain(held, false);
	}
}
