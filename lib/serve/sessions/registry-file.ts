import {type SessionEntry, sessionStates, sessionStatuses} from './types.js';

/** The format version that this build reads and writes. */
const REGISTRY_VERSION = 1;

/** An entry as stored in the file, including members that this version does not define. */
export type StoredRecord = {readonly [key: string]: unknown};

export type RegistryContent = {
	/** Members other than `version` and `sessions`. They are preserved. */
	readonly extraMembers: StoredRecord;
	/** By codex id. Records that are not sessions are preserved under generated keys. */
	readonly records: ReadonlyMap<string, StoredRecord>;
};

export const emptyRegistry: RegistryContent = {extraMembers: {}, records: new Map()};

export class CorruptRegistryError extends Error {
	override readonly name = 'CorruptRegistryError';
}

/** A newer version of bridge wrote the file. It must not be modified. */
export class NewerRegistryError extends Error {
	override readonly name = 'NewerRegistryError';
}

export function parseRegistry(text: string): RegistryContent {
	const {version, sessions, ...extraMembers} = parseObject(text);
	if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
		throw new CorruptRegistryError('it has no version');
	if (version > REGISTRY_VERSION) throw new NewerRegistryError(`it is of version ${version}`);
	if (!Array.isArray(sessions)) throw new CorruptRegistryError('it has no list of sessions');
	const records = new Map<string, StoredRecord>();
	for (const [at, session] of sessions.entries()) {
		records.set(isSessionRecord(session) ? session.codex_id : `#${at}`, session as StoredRecord);
	}
	return {extraMembers, records};
}

function parseObject(text: string): StoredRecord {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw new CorruptRegistryError(text.trim() === '' ? 'it is empty' : 'it is not valid JSON');
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new CorruptRegistryError('it is not a JSON object');
	return value as StoredRecord;
}

const recordTexts = new WeakMap<StoredRecord, string>();

/** One line per entry, for readability. Texts of entries are cached, since few change between saves. */
export function formatRegistry({extraMembers, records}: RegistryContent): string {
	const lines = [...records.values()].map(record => {
		if (typeof record !== 'object' || record === null) return JSON.stringify(record);
		const text = recordTexts.get(record) ?? JSON.stringify(record);
		recordTexts.set(record, text);
		return text;
	});
	const head = JSON.stringify({...extraMembers, version: REGISTRY_VERSION}).slice(0, -1);
	return `${head},"sessions":[${lines.length > 0 ? `\n${lines.join(',\n')}\n` : ''}]}\n`;
}

type SessionRecord = StoredRecord & {
	readonly codex_id: string;
	readonly identity: string;
	readonly team: string;
};

export function isSessionRecord(record: unknown): record is SessionRecord {
	if (typeof record !== 'object' || record === null) return false;
	const {codex_id, identity, team, status} = record as StoredRecord;
	return (
		isNonEmptyString(codex_id) &&
		isNonEmptyString(identity) &&
		isNonEmptyString(team) &&
		sessionStatuses.some(candidate => candidate === status)
	);
}

/** Parses a record, with defaults for missing members. Returns undefined if it is not a session. */
export function parseEntry(record: unknown): SessionEntry | undefined {
	if (!isSessionRecord(record)) return;
	const stored: StoredRecord = record;
	const {codex_id, identity, team} = record;
	const {previous_thread_ids: previous, auto_mail, turns} = stored;
	const status = stored.status as SessionEntry['status'];
	const started = isNonEmptyString(stored.started_at) ? stored.started_at : EPOCH;
	// One literal: with spreads, a thousand entries cost more than parsing the file.
	const entry: SessionEntry = {
		codex_id,
		thread_id: nonEmptyStringOrNull(stored.thread_id),
		previous_thread_ids: Array.isArray(previous) ? previous.filter(isNonEmptyString) : [],
		identity,
		team,
		repo_root: nonEmptyStringOrNull(stored.repo_root),
		repo_name: nonEmptyStringOrNull(stored.repo_name),
		branch: nonEmptyStringOrNull(stored.branch),
		cwd: nonEmptyStringOrNull(stored.cwd) ?? '',
		started_at: started,
		last_active: isNonEmptyString(stored.last_active) ? stored.last_active : started,
		status,
		state:
			sessionStates.find(candidate => candidate === stored.state) ??
			(status === 'active' ? 'idle' : 'closed'),
		tag: nonEmptyStringOrNull(stored.tag),
		role: nonEmptyStringOrNull(stored.role),
		turns: typeof turns === 'number' ? turns : 0,
		last_text: nonEmptyStringOrNull(stored.last_text),
	};
	const withRole = stored.role_named === true ? {...entry, role_named: true} : entry;
	return typeof auto_mail === 'boolean' ? {...withRole, auto_mail} : withRole;
}

const EPOCH = new Date(0).toISOString();
const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== '';
const nonEmptyStringOrNull = (value: unknown): string | null => (isNonEmptyString(value) ? value : null);
