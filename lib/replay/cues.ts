import type {Recorded} from '../store/recorded.js';
import {answersIn} from './sides.js';

/** Something that a recorded server said, and what had to be so before. */
export type Step = {
	readonly message: Recorded;
	/** How long after what came before it in the same course, in milliseconds. */
	readonly delayMs: number;
	/** Questions of the server that the client had answered by then. */
	readonly after: readonly Recorded[];
};

/** Something that a recorded client said, and what the server said because of it, as far as can be told. */
export type Cue = {
	readonly message: Recorded;
	/** Which conversation it is of. */
	readonly conversation: number;
	/** What comes before the answer, and the answer. For a notification, all of it. */
	readonly course: readonly Step[];
	/** What comes later, before the client says anything else. */
	readonly sequel: readonly Step[];
	readonly isAnswered: boolean;
	/** Whether the client gave it up. */
	readonly isCancelled: boolean;
};

/** What is known of messages beyond their heads. */
export type Insight = {
	/** The token that a request wants to hear of progress under, or that progress is told under. */
	tokenOf(message: Recorded): string | undefined;
	/** The id of the request that a cancellation is for. */
	cancelled(message: Recorded): string | undefined;
};

/** Most requests have none, and there may be a million. */
const none: readonly never[] = [];

type Draft = {
	readonly message: Recorded;
	readonly conversation: number;
	course: readonly Step[];
	sequel: readonly Step[];
	last: Recorded;
	isAnswered: boolean;
	isCancelled: boolean;
	questions: readonly Recorded[];
};

/** Takes a conversation apart into what the client said, each with what the server said to it. */
export function cuesOf(messages: readonly Recorded[], insight: Insight, conversation = 0): readonly Cue[] {
	const cues = new Cues(messages, insight, conversation);
	for (const message of messages) cues.add(message);
	return cues.all;
}

class Cues {
	readonly all: Draft[] = [];
	readonly #insight: Insight;
	readonly #answers: ReadonlyMap<Recorded, Recorded>;
	/** Requests without an answer so far, in the order in which they were made. */
	readonly #open = new Map<string, Draft>();
	readonly #byToken = new Map<string, Draft>();
	/** Who caused a question of the server. */
	readonly #askers = new Map<Recorded, Draft>();
	readonly #hasProgress: boolean;
	readonly #conversation: number;

	constructor(messages: readonly Recorded[], insight: Insight, conversation: number) {
		this.#conversation = conversation;
		this.#insight = insight;
		// Those of the client are found by their ids.
		this.#answers = answersIn(messages.filter(isOfQuestions));
		this.#hasProgress = messages.some(isProgress);
	}

	add(message: Recorded): void {
		if (message.from === 'server') this.#heard(message);
		else if (message.kind !== 'answer') this.#said(message);
		else this.#replied(message);
	}

	#said(message: Recorded): void {
		const {kind, method, key = ''} = message;
		if (method === 'notifications/cancelled') {
			const key = this.#insight.cancelled(message) ?? '';
			const given = this.#open.get(key);
			if (given) given.isCancelled = true;
			this.#open.delete(key);
			return;
		}
		const draft: Draft = {
			message,
			conversation: this.#conversation,
			course: none,
			sequel: none,
			last: message,
			questions: none,
			isAnswered: false,
			isCancelled: false,
		};
		this.all.push(draft);
		if (kind !== 'request') return;
		this.#open.set(key, draft);
		const token = this.#hasProgress ? this.#insight.tokenOf(message) : undefined;
		if (token !== undefined) this.#byToken.set(token, draft);
	}

	#heard(message: Recorded): void {
		const draft = this.#causeOf(message);
		if (!draft) return;
		const delayMs = Math.max(0, (message.time - draft.last.time) / 1000);
		const after = this.#settledBefore(message, draft);
		const step = {message, delayMs, after};
		if (draft.isAnswered) draft.sequel = added(draft.sequel, step);
		else draft.course = added(draft.course, step);
		draft.last = message;
		if (message.kind === 'request') {
			draft.questions = added(draft.questions, message);
			this.#askers.set(message, draft);
		}
		if (message.kind !== 'answer') return;
		draft.isAnswered = true;
		this.#open.delete(draft.message.key ?? '');
	}

	/** The questions of the same course that had an answer by then, and that nothing before has waited for. */
	#settledBefore({at}: Recorded, draft: Draft): readonly Recorded[] {
		if (draft.questions.length === 0) return none;
		const isSettled = (question: Recorded): boolean => (this.#answers.get(question)?.at ?? at) < at;
		const settled = draft.questions.filter(isSettled);
		if (settled.length > 0) draft.questions = draft.questions.filter(question => !isSettled(question));
		return settled;
	}

	/** What the client answers a question is waited for from then on, and time goes on from there. */
	#replied(message: Recorded): void {
		const question = this.#answers.get(message);
		const draft = question && this.#askers.get(question);
		if (draft) draft.last = message;
	}

	/** What a message of the server is due to: its request, the one that is under way, or what was said last. */
	#causeOf(message: Recorded): Draft | undefined {
		if (message.kind === 'answer') return this.#open.get(message.key ?? '');
		const token = isProgress(message) ? this.#insight.tokenOf(message) : undefined;
		const asked = token === undefined ? undefined : this.#byToken.get(token);
		return asked ?? [...this.#open.values()].at(-1) ?? this.all.at(-1);
	}
}

/** A list with one more: the list itself, unless it is the empty one that all share. */
function added<T>(list: readonly T[], one: T): readonly T[] {
	if (list === none) return [one];
	(list as T[]).push(one);
	return list;
}

/** Whether it is a question of the server, or the client's answer to one. */
const isOfQuestions = ({kind, from}: Recorded): boolean =>
	from === 'server' ? kind === 'request' : kind === 'answer';

const isProgress = ({method}: Recorded): boolean => method === 'notifications/progress';
