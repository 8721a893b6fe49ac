import type {Recorded} from '../store/recorded.js';

/** Which end of bridge is replayed: what the client said and heard, or what the server did. */
export type Side = 'client' | 'upstream';

/** The messages of a connection as one side has seen them. */
export const seenFrom = (side: Side, messages: readonly Recorded[]): readonly Recorded[] =>
	side === 'client' ? messages.filter(message => message.side === 'client') : seenByServer(messages);

/** Whether bridge has changed anything on its way, so that the two sides have seen different things. */
export const hasTwoSides = (messages: readonly Recorded[]): boolean =>
	messages.some(({side}) => side === 'upstream');

/**
 * A message is in the log as the client sees it, and once more where the server sees it differently. So the server has seen
 * all that is told of its side, and of the client's what is not told twice and was not kept from it.
 */
function seenByServer(messages: readonly Recorded[]): readonly Recorded[] {
	const later = new Later(messages.filter(({side, from}) => side === 'upstream' && from === 'client'));
	const unanswered = answeredByBridge(messages);
	return messages.filter((message, index) => {
		if (message.side === 'upstream') return true;
		if (message.from === 'server') return !message.isOwn && !isTranslation(message, messages[index - 1]);
		if (later.take(message)) return false;
		return message.kind !== 'request' || !unanswered.has(message.at);
	});
}

/** What the server heard in another form, for each thing that the client may have said. */
class Later {
	readonly #waiting = new Map<string, Recorded[]>();

	constructor(messages: readonly Recorded[]) {
		for (const message of messages) {
			const name = nameOf(message);
			const list = this.#waiting.get(name);
			if (list) list.push(message);
			else this.#waiting.set(name, [message]);
		}
	}

	/** Whether the message was told once more, after it was said. */
	take(message: Recorded): boolean {
		const list = this.#waiting.get(nameOf(message)) ?? [];
		const index = list.findIndex(({at}) => at > message.at);
		if (index === -1) return false;
		list.splice(index, 1);
		return true;
	}
}

const nameOf = ({kind, key, method}: Recorded): string =>
	kind === 'notification' ? `${kind} ${method}` : `${kind} ${key}`;

/** Whether a message of the server is what bridge made of the one that the log has right before it. */
const isTranslation = (message: Recorded, before: Recorded | undefined): boolean =>
	before?.side === 'upstream' && before.from === 'server' && nameOf(before) === nameOf(message);

/** The requests that bridge has answered itself. */
function answeredByBridge(messages: readonly Recorded[]): ReadonlySet<number> {
	const asked = new Map<string | undefined, number>();
	const found = new Set<number>();
	for (const {kind, from, side, key, at, isOwn} of messages) {
		if (side !== 'client') continue;
		if (kind === 'request' && from === 'client') asked.set(key, at);
		if (kind !== 'answer' || from !== 'server') continue;
		const request = asked.get(key);
		if (isOwn && request !== undefined) found.add(request);
	}
	return found;
}

/** Each request with the answer that it got, and the other way round, whoever asked. */
export function answersIn(messages: readonly Recorded[]): ReadonlyMap<Recorded, Recorded> {
	const waiting = new Map<string, Recorded>();
	const pairs = new Map<Recorded, Recorded>();
	for (const message of messages) {
		const {kind, from, key} = message;
		if (kind === 'request') waiting.set(`${from} ${key}`, message);
		if (kind !== 'answer') continue;
		const name = `${from === 'client' ? 'server' : 'client'} ${key}`;
		const request = waiting.get(name);
		if (!request) continue;
		waiting.delete(name);
		pairs.set(request, message);
		pairs.set(message, request);
	}
	return pairs;
}
