import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {pairResponses} from './message-sides.js';

/** Something that a recorded server said, and what had to be so before. */
export type PlaybackStep = {
	readonly message: RecordedMessage;
	/** How long after what came before it in the same course, in milliseconds. */
	readonly delayMs: number;
	/** Questions of the server that the client had answered by then. */
	readonly after: readonly RecordedMessage[];
};

/** Something that a recorded client said, and what the server said because of it, as far as can be told. */
export type RecordedExchange = {
	readonly message: RecordedMessage;
	/** Which conversation it is of. */
	readonly conversation: number;
	/** What comes before the answer, and the answer. For a notification, all of it. */
	readonly responseSteps: readonly PlaybackStep[];
	/** What comes later, before the client says anything else. */
	readonly laterSteps: readonly PlaybackStep[];
	readonly isAnswered: boolean;
	/** Whether the client gave it up. */
	readonly isCancelled: boolean;
};

/** What is known of messages beyond their heads. */
type MessageInspector = {
	/** The token that a request wants to hear of progress under, or that progress is told under. */
	tokenOf(message: RecordedMessage): string | undefined;
	/** The id of the request that a cancellation is for. */
	cancelled(message: RecordedMessage): string | undefined;
};

/** Most requests have none, and there may be a million. */
const EMPTY: readonly never[] = [];

type ExchangeDraft = {
	readonly message: RecordedMessage;
	readonly conversation: number;
	responseSteps: readonly PlaybackStep[];
	laterSteps: readonly PlaybackStep[];
	last: RecordedMessage;
	isAnswered: boolean;
	isCancelled: boolean;
	openServerRequests: readonly RecordedMessage[];
};

/** Takes a conversation apart into what the client said, each with what the server said to it. */
export function extractExchanges(
	messages: readonly RecordedMessage[],
	insight: MessageInspector,
	conversation = 0,
): readonly RecordedExchange[] {
	const builder = new ExchangeBuilder(messages, insight, conversation);
	for (const message of messages) builder.add(message);
	return builder.all;
}

class ExchangeBuilder {
	readonly all: ExchangeDraft[] = [];
	readonly #inspector: MessageInspector;
	readonly #pairs: ReadonlyMap<RecordedMessage, RecordedMessage>;
	/** Requests without an answer so far, in the order in which they were made. */
	readonly #pending = new Map<string, ExchangeDraft>();
	readonly #byToken = new Map<string, ExchangeDraft>();
	/** Who caused a question of the server. */
	readonly #exchangeByServerRequest = new Map<RecordedMessage, ExchangeDraft>();
	readonly #hasProgress: boolean;
	readonly #conversation: number;

	constructor(messages: readonly RecordedMessage[], insight: MessageInspector, conversation: number) {
		this.#conversation = conversation;
		this.#inspector = insight;
		// Those of the client are found by their ids.
		this.#pairs = pairResponses(messages.filter(isServerRequestOrResponse));
		this.#hasProgress = messages.some(isProgress);
	}

	add(message: RecordedMessage): void {
		if (message.from === 'server') this.#addServerMessage(message);
		else if (message.kind !== 'response') this.#addClientMessage(message);
		else this.#addClientResponse(message);
	}

	#addClientMessage(message: RecordedMessage): void {
		const {kind, method, key = ''} = message;
		if (method === 'notifications/cancelled') {
			const key = this.#inspector.cancelled(message) ?? '';
			const cancelledDraft = this.#pending.get(key);
			if (cancelledDraft) cancelledDraft.isCancelled = true;
			this.#pending.delete(key);
			return;
		}
		const draft: ExchangeDraft = {
			message,
			conversation: this.#conversation,
			responseSteps: EMPTY,
			laterSteps: EMPTY,
			last: message,
			openServerRequests: EMPTY,
			isAnswered: false,
			isCancelled: false,
		};
		this.all.push(draft);
		if (kind !== 'request') return;
		this.#pending.set(key, draft);
		const token = this.#hasProgress ? this.#inspector.tokenOf(message) : undefined;
		if (token !== undefined) this.#byToken.set(token, draft);
	}

	#addServerMessage(message: RecordedMessage): void {
		const draft = this.#exchangeFor(message);
		if (!draft) return;
		const delayMs = Math.max(0, (message.time - draft.last.time) / 1000);
		const after = this.#respondedBefore(message, draft);
		const step = {message, delayMs, after};
		if (draft.isAnswered) draft.laterSteps = appended(draft.laterSteps, step);
		else draft.responseSteps = appended(draft.responseSteps, step);
		draft.last = message;
		if (message.kind === 'request') {
			draft.openServerRequests = appended(draft.openServerRequests, message);
			this.#exchangeByServerRequest.set(message, draft);
		}
		if (message.kind !== 'response') return;
		draft.isAnswered = true;
		this.#pending.delete(draft.message.key ?? '');
	}

	/** The questions of the same course that had an answer by then, and that nothing before has waited for. */
	#respondedBefore({index: at}: RecordedMessage, draft: ExchangeDraft): readonly RecordedMessage[] {
		if (draft.openServerRequests.length === 0) return EMPTY;
		const hasResponse = (serverRequest: RecordedMessage): boolean =>
			(this.#pairs.get(serverRequest)?.index ?? at) < at;
		const responded = draft.openServerRequests.filter(hasResponse);
		if (responded.length > 0)
			draft.openServerRequests = draft.openServerRequests.filter(
				serverRequest => !hasResponse(serverRequest),
			);
		return responded;
	}

	/** What the client answers a question is waited for from then on, and time goes on from there. */
	#addClientResponse(message: RecordedMessage): void {
		const serverRequest = this.#pairs.get(message);
		const draft = serverRequest && this.#exchangeByServerRequest.get(serverRequest);
		if (draft) draft.last = message;
	}

	/** What a message of the server is due to: its request, the one that is under way, or what was said last. */
	#exchangeFor(message: RecordedMessage): ExchangeDraft | undefined {
		if (message.kind === 'response') return this.#pending.get(message.key ?? '');
		const token = isProgress(message) ? this.#inspector.tokenOf(message) : undefined;
		const byToken = token === undefined ? undefined : this.#byToken.get(token);
		return byToken ?? [...this.#pending.values()].at(-1) ?? this.all.at(-1);
	}
}

/** A list with one more: the list itself, unless it is the empty one that all share. */
function appended<T>(list: readonly T[], one: T): readonly T[] {
	if (list === EMPTY) return [one];
	(list as T[]).push(one);
	return list;
}

/** Whether it is a question of the server, or the client's answer to one. */
const isServerRequestOrResponse = ({kind, from}: RecordedMessage): boolean =>
	from === 'server' ? kind === 'request' : kind === 'response';

const isProgress = ({method}: RecordedMessage): boolean => method === 'notifications/progress';
