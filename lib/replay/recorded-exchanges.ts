import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {pairResponses} from './message-sides.js';

/** A recorded message of the server, with the conditions for its playback. */
export type PlaybackStep = {
	readonly message: RecordedMessage;
	/** Milliseconds after the previous message of the same exchange. */
	readonly delayMs: number;
	/** Server requests that the client has to respond to first. */
	readonly after: readonly RecordedMessage[];
};

/** A recorded message of the client, with the server's messages that it caused as far as can be inferred. */
export type RecordedExchange = {
	readonly message: RecordedMessage;
	readonly conversation: number;
	/** The messages up to and including the response. For a notification, all of its messages. */
	readonly responseSteps: readonly PlaybackStep[];
	/** The messages after the response and before the client's next message. */
	readonly laterSteps: readonly PlaybackStep[];
	readonly hasResponse: boolean;
	readonly isCancelled: boolean;
};

/** Reads what the heads of messages do not contain. */
type MessageInspector = {
	/** Returns the progress token of a request or of a progress notification. */
	tokenOf(message: RecordedMessage): string | undefined;
	/** Returns the id of the request that a cancellation names. */
	cancelled(message: RecordedMessage): string | undefined;
};

/** Shared, since most lists stay empty and there may be a million requests. */
const EMPTY: readonly never[] = [];

type ExchangeDraft = {
	readonly message: RecordedMessage;
	readonly conversation: number;
	responseSteps: readonly PlaybackStep[];
	laterSteps: readonly PlaybackStep[];
	last: RecordedMessage;
	hasResponse: boolean;
	isCancelled: boolean;
	openServerRequests: readonly RecordedMessage[];
};

/** Splits a conversation into the client's messages, each with the server's messages that it caused. */
export function extractExchanges(
	messages: readonly RecordedMessage[],
	inspector: MessageInspector,
	conversation = 0,
): readonly RecordedExchange[] {
	const builder = new ExchangeBuilder(messages, inspector, conversation);
	for (const message of messages) builder.add(message);
	return builder.all;
}

class ExchangeBuilder {
	readonly all: ExchangeDraft[] = [];
	readonly #inspector: MessageInspector;
	readonly #pairs: ReadonlyMap<RecordedMessage, RecordedMessage>;
	/** Requests without a response so far, in the order of sending. */
	readonly #pending = new Map<string, ExchangeDraft>();
	readonly #byToken = new Map<string, ExchangeDraft>();
	/** The exchange that caused each server request. */
	readonly #exchangeByServerRequest = new Map<RecordedMessage, ExchangeDraft>();
	readonly #hasProgress: boolean;
	readonly #conversation: number;

	constructor(messages: readonly RecordedMessage[], inspector: MessageInspector, conversation: number) {
		this.#conversation = conversation;
		this.#inspector = inspector;
		// Responses to client requests are found by their ids.
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
			hasResponse: false,
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
		if (draft.hasResponse) draft.laterSteps = appended(draft.laterSteps, step);
		else draft.responseSteps = appended(draft.responseSteps, step);
		draft.last = message;
		if (message.kind === 'request') {
			draft.openServerRequests = appended(draft.openServerRequests, message);
			this.#exchangeByServerRequest.set(message, draft);
		}
		if (message.kind !== 'response') return;
		draft.hasResponse = true;
		this.#pending.delete(draft.message.key ?? '');
	}

	/** The server requests of an exchange that have a response by now and that no earlier step waits for. */
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

	/** Measures the next delay of the exchange from the client's response to a server request. */
	#addClientResponse(message: RecordedMessage): void {
		const serverRequest = this.#pairs.get(message);
		const draft = serverRequest && this.#exchangeByServerRequest.get(serverRequest);
		if (draft) draft.last = message;
	}

	/**
	 * The exchange of a server message: by id or by progress token, else the latest pending or the last one.
	 */
	#exchangeFor(message: RecordedMessage): ExchangeDraft | undefined {
		if (message.kind === 'response') return this.#pending.get(message.key ?? '');
		const token = isProgress(message) ? this.#inspector.tokenOf(message) : undefined;
		const byToken = token === undefined ? undefined : this.#byToken.get(token);
		return byToken ?? [...this.#pending.values()].at(-1) ?? this.all.at(-1);
	}
}

/** Appends to a list in place, unless it is the shared empty list. */
function appended<T>(list: readonly T[], item: T): readonly T[] {
	if (list === EMPTY) return [item];
	(list as T[]).push(item);
	return list;
}

const isServerRequestOrResponse = ({kind, from}: RecordedMessage): boolean =>
	from === 'server' ? kind === 'request' : kind === 'response';

const isProgress = ({method}: RecordedMessage): boolean => method === 'notifications/progress';
