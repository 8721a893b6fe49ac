import {randomUUID} from 'node:crypto';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {canonicalId, unquotedId} from '../../wire/id.js';
import {marks} from '../../wire/marks.js';
import {memberRange, memberText} from '../../wire/member.js';
import type {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';

/** The maximum number of tasks with progress after the response. The oldest is evicted for the next. */
const MAX_TASKS = 10_000;
/**
 * The maximum number of characters in an id, a method or a progress token. These are kept while a request is
 * pending, and some ids for longer.
 */
export const MAX_IDENTIFIER_LENGTH = 4096;

export type PendingToken = {
	/** The token as the client sent it. */
	readonly text: string;
	/**
	 * The token sent upstream: an alias if the client's token equals a pending one that is spelled
	 * differently.
	 */
	readonly upstreamText: string;
	/** The number of requests that use it. Careful clients use each token only once. */
	count: number;
};

/**
 * The progress tokens of a client's pending requests.
 *
 * Only requests that the scan marked as having a token are parsed. Upstreams parse and re-serialize tokens,
 * so this class restores the client's spelling. A number and the string that reads the same count as equal,
 * as they do in many clients.
 */
export class PendingProgress {
	readonly #byText = new Map<string, PendingToken>();
	/** The tokens, by the canonical key of the upstream token. */
	readonly #byKey = new Map<string, PendingToken>();
	/** The tokens of requests that run as a task and continue after their response, by the same key. */
	readonly #tasks = new BoundedStringMap<PendingToken>(MAX_TASKS, undefined, ({text}) => text.length);
	readonly #aliasPrefix = randomUUID();
	#aliasCount = 0;

	/** Registers the token of a new request. Returns it, if there is one. */
	begin(request: Envelope): PendingToken | undefined {
		const requestMarks = request.head.marks;
		if ((requestMarks & marks.progressToken) === 0) return;
		const text = memberText(request.bytes, 'params', '_meta', 'progressToken');
		if (text === undefined) return;
		if (text.length > MAX_IDENTIFIER_LENGTH) throw tooLongError('progressToken');
		const token = this.#byText.get(text) ?? this.#add(text);
		token.count++;
		if ((requestMarks & marks.task) !== 0) this.#tasks.set(keyOfToken(token.upstreamText), token);
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

	/** Releases a token when a request that uses it is no longer pending. */
	end(token: PendingToken): void {
		if (--token.count > 0) return;
		this.#byText.delete(token.text);
		this.#byKey.delete(keyOfToken(token.upstreamText));
	}

	/**
	 * Returns the notification with the token as the client sent it, or undefined if no request uses the
	 * token. A notification without a token is returned unchanged.
	 */
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

/** The key of the string that reads the same as this number, or the reverse. */
const alternateKey = (text: string): string =>
	text.startsWith('"') ? unquotedId(text) : `"${keyOfToken(text)}"`;
