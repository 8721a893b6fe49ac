import {BoundedMap} from './bounded-map.js';
import type {Envelope} from './envelope.js';
import {canonicalId, idWord} from './wire/id.js';
import {marks} from './wire/marks.js';
import {memberText} from './wire/member.js';

/** Tasks whose progress may go on after their request is answered; the oldest is forgotten for the next. */
const MAX_TASKS = 10_000;

/**
 * The tokens under which a client waits for progress.
 *
 * Only requests that have such a token, as the walk over their bytes has marked, are looked into. Numbers and strings
 * that read the same are taken for the same token, as clients do.
 */
export class AwaitedProgress {
	/** How many requests each belongs to: one, unless a client is careless. */
	readonly #counts = new Map<string, number>();
	/** Tokens of requests to be done as a task, which is under way when they are answered. */
	readonly #tasks = new BoundedMap<string, true>(MAX_TASKS);

	/** A request is asked. Returns its token, if it has one. */
	begin(request: Envelope): string | undefined {
		const seen = request.head.marks;
		if ((seen & marks.progressToken) === 0) return;
		const token = word(memberText(request.bytes, 'params', '_meta', 'progressToken'));
		if (token === undefined) return;
		this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
		if ((seen & marks.task) !== 0) this.#tasks.set(token, true);
		return token;
	}

	/** A request with this token is answered, or given up. */
	end(token: string): void {
		const left = (this.#counts.get(token) ?? 1) - 1;
		if (left > 0) this.#counts.set(token, left);
		else this.#counts.delete(token);
	}

	/** Whether somebody waits for what a notification tells. One without a token is not for us to judge. */
	isAwaited(progress: Envelope): boolean {
		const token = word(memberText(progress.bytes, 'params', 'progressToken'));
		return token === undefined || this.#counts.has(token) || this.#tasks.has(token);
	}
}

const word = (text: string | undefined): string | undefined =>
	text === undefined ? undefined : idWord(canonicalId(text));
