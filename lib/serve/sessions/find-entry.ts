import type {SessionEntry} from './types.js';

/** Finds a session by codex id, current or previous thread id, or identity, in this order. */
export function findEntry(entries: readonly SessionEntry[], ref: string): SessionEntry | undefined {
	const matchers: ReadonlyArray<(entry: SessionEntry) => boolean> = [
		({codex_id}) => codex_id === ref,
		({thread_id, previous_thread_ids}) => thread_id === ref || previous_thread_ids.includes(ref),
		({identity}) => identity === ref,
	];
	for (const matches of matchers) {
		const found = entries.filter(matches);
		if (found.length > 0) return found.reduce(preferredEntry);
	}
	return;
}

/** Prefers an active session, then the most recent one. */
const preferredEntry = (one: SessionEntry, other: SessionEntry): SessionEntry => {
	const [isOneActive, isOtherActive] = [one.status === 'active', other.status === 'active'];
	if (isOneActive !== isOtherActive) return isOneActive ? one : other;
	return Date.parse(other.last_active) > Date.parse(one.last_active) ? other : one;
};
