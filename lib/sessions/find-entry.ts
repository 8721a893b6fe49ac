import type {SessionEntry} from './types.js';

/** The session that is meant by a codex id, a thread id (previous ones too) or an identity. */
export function findEntry(entries: readonly SessionEntry[], wanted: string): SessionEntry | undefined {
	const rules: ReadonlyArray<(entry: SessionEntry) => boolean> = [
		({codex_id}) => codex_id === wanted,
		({thread_id, previous_thread_ids}) => thread_id === wanted || previous_thread_ids.includes(wanted),
		({identity}) => identity === wanted,
	];
	for (const fits of rules) {
		const found = entries.filter(fits);
		if (found.length > 0) return found.reduce(better);
	}
	return;
}

/** Of several, the one that is at work, else the one used last. */
const better = (one: SessionEntry, other: SessionEntry): SessionEntry => {
	const [isOneActive, isOtherActive] = [one.status === 'active', other.status === 'active'];
	if (isOneActive !== isOtherActive) return isOneActive ? one : other;
	return Date.parse(other.last_active) > Date.parse(one.last_active) ? other : one;
};
