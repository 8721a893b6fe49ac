import {createHash} from 'node:crypto';
import {isObject, type JsonObject, objectOf} from '../../util/json.js';
import type {MailMessage} from './types.js';

/** An id of somebody else's that is taken for one. */
const MAX_ID = 200;
/** No program writes mail to another that is longer; whatever is longer is for people. */
const MAX_TYPED_LENGTH = 64 * 1024;

/** Makes messages of an inbox's entries, each with an id that no other has. */
export class MessageParser {
	/** What has an id already: from whom and what. */
	readonly #fingerprints = new Map<string, string>();
	/** The first number to try for an id that is wanted again. Numbers from 1 to before it are in use. */
	readonly #nextSuffixes = new Map<string, number>();
	/** The ids with a number below that, by the id that is wanted and the message. */
	readonly #assignedIds = new Map<string, string>();

	/** The message; undefined for what is none. */
	parse(record: unknown): MailMessage | undefined {
		if (!isObject(record)) return;
		const {from, timestamp, summary} = record;
		const text = record.text ?? record.content;
		if (typeof from !== 'string' || typeof text !== 'string') return;
		const time = typeof timestamp === 'string' ? timestamp : '';
		const {sourceTeam, priority} = atmMetadata(record);
		return {
			id: this.#idOf(record, from, time, text),
			from,
			text,
			timestamp: time,
			at: Date.parse(time),
			isRead: record.read === true,
			summary: asString(summary),
			sourceTeam: asString(sourceTeam) ?? asString(record.source_team),
			type: messageType(text),
			isUrgent: (priority ?? record.priority) === 'urgent',
		};
	}

	/** The same message written twice keeps its id; another one under the same id gets one of its own. */
	#idOf(record: JsonObject, from: string, time: string, text: string): string {
		const existingId = writtenId(record);
		const digest = fingerprint(from, time, text);
		const wanted = existingId ?? `sha-${digest.slice(0, 20)}`;
		const assigned = existingId === undefined ? undefined : this.#assignedIds.get(`${wanted}\0${digest}`);
		return assigned ?? this.#uniqueId(wanted, digest, existingId !== undefined);
	}

	/** The first id that is free or, if `isShared`, belongs to the same message. No number is tried twice for the same id. */
	#uniqueId(wanted: string, digest: string, isShared: boolean): string {
		for (let count = this.#nextSuffixes.get(wanted) ?? 1; ; count++) {
			const id = count === 1 ? wanted : `${wanted}~${count}`;
			const usedBy = this.#fingerprints.get(id);
			if (usedBy === undefined || (isShared && usedBy === digest)) {
				this.#fingerprints.set(id, digest);
				if (count > 1) this.#nextSuffixes.set(wanted, count);
				return id;
			}
			const key = `${wanted}\0${usedBy}`;
			if (!this.#assignedIds.has(key)) this.#assignedIds.set(key, id);
		}
	}
}

const atmMetadata = (record: JsonObject): JsonObject => objectOf(objectOf(record.metadata).atm);

/** The id that its writer gave it, of whichever time. */
function writtenId(record: JsonObject): string | undefined {
	const candidates = [record.message_id, atmMetadata(record).messageId, record.msg_id];
	return candidates.find(
		(id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID && !/\p{Cc}/u.test(id),
	);
}

const fingerprint = (...parts: readonly string[]): string =>
	createHash('sha256').update(JSON.stringify(parts)).digest('hex');

const asString = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What kind of mail from program to program it is. */
function messageType(text: string): string | undefined {
	if (!text.trimStart().startsWith('{') || text.length > MAX_TYPED_LENGTH) return;
	try {
		return asString(objectOf(JSON.parse(text)).type);
	} catch {
		// It is somebody's text that begins with a brace.
		return;
	}
}
