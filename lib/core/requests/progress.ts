import {randomUUID} from 'node:crypto';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {canonicalId, unquotedId} from '../../wire/id.js';
import {marks} from '../../wire/marks.js';
import {memberRange, memberText} from '../../wire/member.js';
import type {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';

/** Tasks whose progress may go on after their request is answered; the oldest is forgotten for the next. */
const MAX_TASKS = 10_000;
/** Characters of an id, a method or a progress token, which are kept while a request is pending, and some ids for longer. */
export const MAX_IDENTIFIER_LENGTH = 4096;

/** A progress token of pending requests. */
export type PendingToken = {
	/** As the client wrote it. */
	readonly text: string;
	/** As sent upstream: another one where the client's reads the same as a pending token that is written differently. */
	readonly upstreamText: string;
	/** The number of requests that have it: one, unless a client is careless. */
	count: number;
};

/**
 * The tokens under which a client waits for progress.
 *
 * Only requests that have such a token, as the walk over their bytes has marked, are looked into. Upstreams parse tokens and
 * write them anew, so the client gets each token back as it wrote it. Numbers and strings that read the same count as
 * the same token, as clients do.
 */
export class PendingProgress {
	readonly #byText = new Map<string, PendingToken>();
	/** By a key that is the same for all spellings of the token that was sent to the upstream. */
	readonly #byKey = new Map<string, PendingToken>();
	/** Tokens of requests that run as a task, which continues after their response. By the same key. */
	readonly #tasks = new BoundedStringMap<PendingToken>(MAX_TASKS, undefined, ({text}) => text.length);
	readonly #aliasPrefix = randomUUID();
	#aliasCount = 0;

	/** A request becomes pending. Returns its token, if it has one. */
	begin(request: Envelope): PendingToken | undefined {
		const found = request.head.marks;
		if ((found & marks.progressToken) === 0) return;
		const text = memberText(request.bytes, 'params', '_meta', 'progressToken');
		if (text === undefined) return;
		if (text.length > MAX_IDENTIFIER_LENGTH) throw tooLongError('progressToken');
		const token = this.#byText.get(text) ?? this.#add(text);
		token.count++;
		if ((found & marks.task) !== 0) this.#tasks.set(keyOfToken(token.upstreamText), token);
		return token;
	}

	#add(text: string): PendingToken {
		const existing = this.#find(keyOfToken(text));
		const upstreamText =
			existing && existing.text !== text ? `"${this.#aliasPrefix}-${++this.#aliasCount}"` : text;
		const token: PendingToken = {text, upstreamText, count: 0};
		this.#byText.set(text, token);
		this.#byKey.set(keyOfToken(upstreamText), token);
		return token;
	}

	/** A request with this token is no longer pending. */
	end(token: PendingToken): void {
		if (--token.count > 0) return;
		this.#byText.delete(token.text);
		this.#byKey.delete(keyOfToken(token.upstreamText));
	}

	/** A notification with the token as the client wrote it; undefined if no request waits for it. One without a token passes. */
	restoreToken(progress: Envelope): Envelope | undefined {
		const at = memberRange(progress.bytes, 'params', 'progressToken');
		if (!at) return progress;
		const text = progress.bytes.toString('utf8', ...at);
		const token = this.#find(keyOfToken(text)) ?? this.#find(alternateKey(text));
		if (!token) return;
		return token.text === text ? progress : progress.withTextAt(at, token.text);
	}

	#find(key: string): PendingToken | undefined {
		return this.#byKey.get(key) ?? this.#tasks.get(key);
	}
}

export const tooLongError = (what: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`The ${what} of this request has more than ${MAX_IDENTIFIER_LENGTH} characters.`,
		'Send a shorter one.',
		{limit: MAX_IDENTIFIER_LENGTH},
	);

const isIdLike = (text: string): boolean => /^["\d-]/.test(text);

const keyOfToken = (text: string): string => (isIdLike(text) ? canonicalId(text) : text);

/** The key of the string that reads as a number, or of the number that reads as a string. */
const alternateKey = (text: string): string =>
	text.startsWith('"') ? unquotedId(text) : `"${keyOfToken(text)}"`;
