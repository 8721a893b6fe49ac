import {createHash} from 'node:crypto';
import {isObject, type JsonObject, objectOf} from '../../util/json.js';
import type {MailMessage} from './types.js';

/** Limit on the length of ids. Longer ids are ignored. */
const MAX_ID = 200;
/** Limit on the length of structured messages. Longer texts are treated as plain text. */
const MAX_TYPED_LENGTH = 64 * 1024;

/** Parses the entries of an inbox into messages with unique ids. */
export class MessageParser {
	/** Assigned ids, each with the fingerprint of its message. */
	readonly #fingerprints = new Map<string, string>();
	/** The next suffix to try for an id that is already in use. All lower suffixes are in use. */
	readonly #nextSuffixes = new Map<string, number>();
	/** Ids with a lower suffix, by requested id and message fingerprint. */
	readonly #assignedIds = new Map<string, string>();

	/** Parses an entry. Returns undefined if it is not a message. */
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

	/**
	 * Returns the id of a message. Copies of a message share an id; a different message with the same id gets a
	 * suffix.
	 */
	#idOf(record: JsonObject, from: string, time: string, text: string): string {
		const existingId = writtenId(record);
		const digest = fingerprint(from, time, text);
		const baseId = existingId ?? `sha-${digest.slice(0, 20)}`;
		const assigned = existingId === undefined ? undefined : this.#assignedIds.get(`${baseId}\0${digest}`);
		return assigned ?? this.#uniqueId(baseId, digest, existingId !== undefined);
	}

	/**
	 * Returns the first id that is unused or, if `isShared`, belongs to the same message. Tries each suffix at
	 * most once.
	 */
	#uniqueId(baseId: string, digest: string, isShared: boolean): string {
		for (let count = this.#nextSuffixes.get(baseId) ?? 1; ; count++) {
			const id = count === 1 ? baseId : `${baseId}~${count}`;
			const usedBy = this.#fingerprints.get(id);
			if (usedBy === undefined || (isShared && usedBy === digest)) {
				this.#fingerprints.set(id, digest);
				if (count > 1) this.#nextSuffixes.set(baseId, count);
				return id;
			}
			const key = `${baseId}\0${usedBy}`;
			if (!this.#assignedIds.has(key)) this.#assignedIds.set(key, id);
		}
	}
}

const atmMetadata = (record: JsonObject): JsonObject => objectOf(objectOf(record.metadata).atm);

/** The id that the sender assigned. Its key depends on the version of the sender's program. */
function writtenId(record: JsonObject): string | undefined {
	const candidates = [record.message_id, atmMetadata(record).messageId, record.msg_id];
	return candidates.find(
		(id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID && !/\p{Cc}/u.test(id),
	);
}

const fingerprint = (...parts: readonly string[]): string =>
	createHash('sha256').update(JSON.stringify(parts)).digest('hex');

const asString = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The `type` of a structured message, which is JSON text. */
function messageType(text: string): string | undefined {
	if (!text.trimStart().startsWith('{') || text.length > MAX_TYPED_LENGTH) return;
	try {
		return asString(objectOf(JSON.parse(text)).type);
	} catch {
		// Plain text that begins with a brace.
		return;
	}
}
