import {type SessionEntry, sessionStates, sessionStatuses} from './types.js';

/** The version of the format that is written. */
const REGISTRY_VERSION = 1;

/** An entry as it stands in the file, with whatever members others have put there. */
export type StoredRecord = {readonly [key: string]: unknown};

/** What is in a registry's file. */
export type RegistryContent = {
	/** Members beside version and sessions, which are kept. */
	readonly extraMembers: StoredRecord;
	/** By codex id; what has none, or is no session, is kept under a key of its own. */
	readonly records: ReadonlyMap<string, StoredRecord>;
};

export const emptyRegistry: RegistryContent = {extraMembers: {}, records: new Map()};

/** The file is no registry. */
export class CorruptRegistryError extends Error {
	override readonly name = 'CorruptRegistryError';
}

/** The file is the registry of a later bridge, and is not to be touched. */
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
		throw new CorruptRegistryError(text.trim() === '' ? 'it is empty' : 'it is no JSON');
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new CorruptRegistryError('it is no object');
	return value as StoredRecord;
}

const recordTexts = new WeakMap<StoredRecord, string>();

/** One line an entry, for people who look. The texts of entries are kept: most do not change between two saves. */
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

/** What is there of every session. */
type SessionRecord = StoredRecord & {
	readonly codex_id: string;
	readonly identity: string;
	readonly team: string;
};

/** Whether a record is a session, and not something that only stands among them. */
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

/** A record as an entry, with defaults for what older writers did not have; undefined where it is none. */
export function parseEntry(record: unknown): SessionEntry | undefined {
	if (!isSessionRecord(record)) return;
	const stored: StoredRecord = record;
	const {codex_id, identity, team} = record;
	const {previous_thread_ids: previous, auto_mail, turns} = stored;
	const status = stored.status as SessionEntry['status'];
	const started = isNonEmptyString(stored.started_at) ? stored.started_at : EPOCH;
	// One literal: spreads would make a thousand of them cost more than parsing the file.
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
