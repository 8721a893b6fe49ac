import {type SessionEntry, sessionStates, sessionStatuses} from './types.js';

/** The version of the format that is written. */
export const VERSION = 1;

/** An entry as it stands in the file, with whatever members others have put there. */
export type Stored = {readonly [key: string]: unknown};

/** What is in a registry's file. */
export type Content = {
	/** Members beside version and sessions, which are kept. */
	readonly others: Stored;
	/** By codex id; what has none, or is no session, is kept under a key of its own. */
	readonly records: ReadonlyMap<string, Stored>;
};

export const emptyContent: Content = {others: {}, records: new Map()};

/** The file is no registry. */
export class CorruptRegistry extends Error {
	override readonly name = 'CorruptRegistry';
}

/** The file is the registry of a later bridge, and is not to be touched. */
export class NewerRegistry extends Error {
	override readonly name = 'NewerRegistry';
}

export function parseRegistry(text: string): Content {
	const {version, sessions, ...others} = objectOf(text);
	if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
		throw new CorruptRegistry('it has no version');
	if (version > VERSION) throw new NewerRegistry(`it is of version ${version}`);
	if (!Array.isArray(sessions)) throw new CorruptRegistry('it has no list of sessions');
	const records = new Map<string, Stored>();
	for (const [at, session] of sessions.entries()) {
		records.set(isSession(session) ? session.codex_id : `#${at}`, session as Stored);
	}
	return {others, records};
}

function objectOf(text: string): Stored {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw new CorruptRegistry(text.trim() === '' ? 'it is empty' : 'it is no JSON');
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new CorruptRegistry('it is no object');
	return value as Stored;
}

const texts = new WeakMap<Stored, string>();

/** One line an entry, for people who look. The texts of entries are kept: most do not change between two saves. */
export function formatRegistry({others, records}: Content): string {
	const lines = [...records.values()].map(record => {
		if (typeof record !== 'object' || record === null) return JSON.stringify(record);
		const text = texts.get(record) ?? JSON.stringify(record);
		texts.set(record, text);
		return text;
	});
	const head = JSON.stringify({...others, version: VERSION}).slice(0, -1);
	return `${head},"sessions":[${lines.length > 0 ? `\n${lines.join(',\n')}\n` : ''}]}\n`;
}

/** What is there of every session. */
type Session = Stored & {readonly codex_id: string; readonly identity: string; readonly team: string};

/** Whether a record is a session, and not something that only stands among them. */
export function isSession(record: unknown): record is Session {
	if (typeof record !== 'object' || record === null) return false;
	const {codex_id, identity, team, status} = record as Stored;
	return (
		isText(codex_id) && isText(identity) && isText(team) && sessionStatuses.some(known => known === status)
	);
}

/** A record as an entry, with defaults for what older writers did not have; undefined where it is none. */
export function entryOf(record: unknown): SessionEntry | undefined {
	if (!isSession(record)) return;
	const stored: Stored = record;
	const {codex_id, identity, team} = record;
	const {previous_thread_ids: previous, auto_mail, turns} = stored;
	const status = stored.status as SessionEntry['status'];
	const started = isText(stored.started_at) ? stored.started_at : EPOCH;
	// One literal: spreads would make a thousand of them cost more than parsing the file.
	const entry: SessionEntry = {
		codex_id,
		thread_id: textOf(stored.thread_id),
		previous_thread_ids: Array.isArray(previous) ? previous.filter(isText) : [],
		identity,
		team,
		repo_root: textOf(stored.repo_root),
		repo_name: textOf(stored.repo_name),
		branch: textOf(stored.branch),
		cwd: textOf(stored.cwd) ?? '',
		started_at: started,
		last_active: isText(stored.last_active) ? stored.last_active : started,
		status,
		state: sessionStates.find(known => known === stored.state) ?? (status === 'active' ? 'idle' : 'closed'),
		tag: textOf(stored.tag),
		role: textOf(stored.role),
		turns: typeof turns === 'number' ? turns : 0,
		last_text: textOf(stored.last_text),
	};
	const named = stored.role_named === true ? {...entry, role_named: true} : entry;
	return typeof auto_mail === 'boolean' ? {...named, auto_mail} : named;
}

const EPOCH = new Date(0).toISOString();
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const textOf = (value: unknown): string | null => (isText(value) ? value : null);
