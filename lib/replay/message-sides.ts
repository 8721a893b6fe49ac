import type {RecordedMessage} from '../traffic-log/log-contents.js';

/** The end of bridge whose view is replayed. */
type ReplaySide = 'client' | 'upstream';

export const messagesSeenBy = (
	side: ReplaySide,
	messages: readonly RecordedMessage[],
): readonly RecordedMessage[] =>
	side === 'client'
		? messages.filter(message => message.side === 'client')
		: messagesSeenByUpstream(messages);

/** Whether bridge changed messages, so that the upstream saw other ones than the client. */
export const hasUpstreamSide = (messages: readonly RecordedMessage[]): boolean =>
	messages.some(({side}) => side === 'upstream');

/**
 * The log has each message as the client saw it, and again if the upstream saw it differently. The upstream
 * saw all messages of its own side. Of the client's side, it saw those without such a copy, unless bridge
 * handled them itself.
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

/** The copies of client messages, as the upstream received them. */
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

	/** Whether a message has a later copy, which is removed. */
	take(message: RecordedMessage): boolean {
		const list = this.#unmatched.get(messageKey(message)) ?? [];
		const index = list.findIndex(copy => copy.index > message.index);
		if (index === -1) return false;
		list.splice(index, 1);
		return true;
	}
}

const messageKey = ({kind, key, method}: RecordedMessage): string =>
	kind === 'notification' ? `${kind} ${method}` : `${kind} ${key}`;

/** Whether a message of the server is bridge's translation of the message right before it. */
const isTranslation = (message: RecordedMessage, before: RecordedMessage | undefined): boolean =>
	before?.side === 'upstream' && before.from === 'server' && messageKey(before) === messageKey(message);

function requestsHandledByBridge(messages: readonly RecordedMessage[]): ReadonlySet<number> {
	const pending = new Map<string | undefined, number>();
	const found = new Set<number>();
	for (const {kind, from, side, key, index, isByBridge} of messages) {
		if (side !== 'client') continue;
		if (kind === 'request' && from === 'client') pending.set(key, index);
		if (kind !== 'response' || from !== 'server') continue;
		const request = pending.get(key);
		if (isByBridge && request !== undefined) found.add(request);
	}
	return found;
}

/** Maps each request to its response and each response to its request, in both directions. */
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
