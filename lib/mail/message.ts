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
	/** The first number to try for an id that is wanted again. Numbers from 1 to before it are in use. */
	readonly #next = new Map<string, number>();
	/** The ids with a number below that, by the id that is wanted and the message. */
	readonly #passed = new Map<string, string>();

	/** The message; undefined for what is none. */
	read(record: unknown): Message | undefined {
		if (!isObject(record)) return;
		const {from, timestamp, summary} = record;
		const text = record.text ?? record.content;
		if (typeof from !== 'string' || typeof text !== 'string') return;
		const time = typeof timestamp === 'string' ? timestamp : '';
		const {sourceTeam, priority} = ofAtm(record);
		return {
			id: this.#idOf(record, from, time, text),
			from,
			text,
			timestamp: time,
			at: Date.parse(time),
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
		const same = own === undefined ? undefined : this.#passed.get(`${wanted}\0${print}`);
		return same ?? this.#numbered(wanted, print, own !== undefined);
	}

	/** The first id that is free or, if `isShared`, belongs to the same message. No number is tried twice for the same id. */
	#numbered(wanted: string, print: string, isShared: boolean): string {
		for (let count = this.#next.get(wanted) ?? 1; ; count++) {
			const id = count === 1 ? wanted : `${wanted}~${count}`;
			const taken = this.#seen.get(id);
			if (taken === undefined || (isShared && taken === print)) {
				this.#seen.set(id, print);
				if (count > 1) this.#next.set(wanted, count);
				return id;
			}
			const key = `${wanted}\0${taken}`;
			if (!this.#passed.has(key)) this.#passed.set(key, id);
		}
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
