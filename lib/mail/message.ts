import {createHash} from 'node:crypto';
import {isObject, type JsonObject, objectOf} from '../protocol/json.js';
import type {Message} from './types.js';

/** An id of somebody else's that is taken for one. */
const MAX_ID = 200;
/** No program writes mail to another that is longer; whatever is longer is for people. */
const MAX_PROTOCOL = 64 * 1024;

/** Makes messages of an inbox's entries, each with an id that no other has. */
export class Reader {
	/** What has an id already: from whom and what. */
	readonly #seen = new Map<string, string>();

	/** The message; undefined for what is none. */
	read(record: unknown): Message | undefined {
		if (!isObject(record)) return;
		const {from, timestamp, summary} = record;
		const text = record.text ?? record.content;
		if (typeof from !== 'string' || typeof text !== 'string') return;
		const time = typeof timestamp === 'string' ? timestamp : '';
		const {sourceTeam, priority} = ofAtm(record);
		return {
			...{id: this.#idOf(record, from, time, text), from, text, timestamp: time, at: Date.parse(time)},
			isRead: record.read === true,
			summary: textOf(summary),
			sourceTeam: textOf(sourceTeam) ?? textOf(record.source_team),
			type: typeOf(text),
			isUrgent: (priority ?? record.priority) === 'urgent',
		};
	}

	/** The same message written twice keeps its id; another one under the same id gets one of its own. */
	#idOf(record: JsonObject, from: string, time: string, text: string): string {
		const own = ownId(record);
		const print = fingerprint(from, time, text);
		const wanted = own ?? `sha-${print.slice(0, 20)}`;
		let id = wanted;
		for (let count = 2; this.#seen.has(id) && (own === undefined || this.#seen.get(id) !== print); count++)
			id = `${wanted}~${count}`;
		this.#seen.set(id, print);
		return id;
	}
}

const ofAtm = (record: JsonObject): JsonObject => objectOf(objectOf(record.metadata).atm);

/** The id that its writer gave it, of whichever time. */
function ownId(record: JsonObject): string | undefined {
	const known = [record.message_id, ofAtm(record).messageId, record.msg_id];
	return known.find(
		(id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID && !/\p{Cc}/u.test(id),
	);
}

const fingerprint = (...parts: readonly string[]): string =>
	createHash('sha256').update(JSON.stringify(parts)).digest('hex');

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What kind of mail from program to program it is. */
function typeOf(text: string): string | undefined {
	if (!text.trimStart().startsWith('{') || text.length > MAX_PROTOCOL) return;
	try {
		return textOf(objectOf(JSON.parse(text)).type);
	} catch {
		// It is somebody's text that begins with a brace.
		return;
	}
}
