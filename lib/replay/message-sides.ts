import type {RecordedMessage} from '../traffic-log/log-contents.js';

/** Which end of bridge is replayed: what the client said and heard, or what the server did. */
type ReplaySide = 'client' | 'upstream';

/** The messages of a connection as one side has seen them. */
export const messagesSeenBy = (
	side: ReplaySide,
	messages: readonly RecordedMessage[],
): readonly RecordedMessage[] =>
	side === 'client'
		? messages.filter(message => message.side === 'client')
		: messagesSeenByUpstream(messages);

/** Whether bridge has changed anything on its way, so that the two sides have seen different things. */
export const hasUpstreamSide = (messages: readonly RecordedMessage[]): boolean =>
	messages.some(({side}) => side === 'upstream');

/**
 * A message is in the log as the client sees it, and once more where the server sees it differently. So the server has seen
 * all that is told of its side, and of the client's what is not told twice and was not kept from it.
 */
function messagesSeenByUpstream(messages: readonly RecordedMessage[]): readonly RecordedMessage[] {
	const upstreamCopies = new UpstreamCopies(
		messages.filter(({side, from}) => side === 'upstream' && from === 'client'),
	);
	const handledByBridge = requestsHandledByBridge(messages);
	return messages.filter((message, index) => {
		if (message.side === 'upstream') return true;
		if (message.from === 'server') return !message.isByBridge && !isTranslation(message, messages[index - 1]);
		if (upstreamCopies.take(message)) return false;
		return message.kind !== 'request' || !handledByBridge.has(message.index);
	});
}

/** What the server heard in another form, for each thing that the client may have said. */
class UpstreamCopies {
	readonly #unmatched = new Map<string, RecordedMessage[]>();

	constructor(messages: readonly RecordedMessage[]) {
		for (const message of messages) {
			const name = messageKey(message);
			const list = this.#unmatched.get(name);
			if (list) list.push(message);
			else this.#unmatched.set(name, [message]);
		}
	}

	/** Whether the message was told once more, after it was said. */
	take(message: RecordedMessage): boolean {
		const list = this.#unmatched.get(messageKey(message)) ?? [];
		const index = list.findIndex(({index: at}) => at > message.index);
		if (index === -1) return false;
		list.splice(index, 1);
		return true;
	}
}

const messageKey = ({kind, key, method}: RecordedMessage): string =>
	kind === 'notification' ? `${kind} ${method}` : `${kind} ${key}`;

/** Whether a message of the server is what bridge made of the one that the log has right before it. */
const isTranslation = (message: RecordedMessage, before: RecordedMessage | undefined): boolean =>
	before?.side === 'upstream' && before.from === 'server' && messageKey(before) === messageKey(message);

/** The requests that bridge has answered itself. */
function requestsHandledByBridge(messages: readonly RecordedMessage[]): ReadonlySet<number> {
	const pending = new Map<string | undefined, number>();
	const found = new Set<number>();
	for (const {kind, from, side, key, index: at, isByBridge: isOwn} of messages) {
		if (side !== 'client') continue;
		if (kind === 'request' && from === 'client') pending.set(key, at);
		if (kind !== 'response' || from !== 'server') continue;
		const request = pending.get(key);
		if (isOwn && request !== undefined) found.add(request);
	}
	return found;
}

/** Each request with the answer that it got, and the other way round, whoever asked. */
export function pairResponses(
	messages: readonly RecordedMessage[],
): ReadonlyMap<RecordedMessage, RecordedMessage> {
	const pending = new Map<string, RecordedMessage>();
	const pairs = new Map<RecordedMessage, RecordedMessage>();
	for (const message of messages) {
		const {kind, from, key} = message;
		if (kind === 'request') pending.set(`${from} ${key}`, message);
		if (kind !== 'response') continue;
		const name = `${from === 'client' ? 'server' : 'client'} ${key}`;
		const request = pending.get(name);
		if (!request) continue;
		pending.delete(name);
		pairs.set(request, message);
		pairs.set(message, request);
	}
	return pairs;
}
