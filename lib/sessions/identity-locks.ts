import {readdir, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {isFresh, refresh} from '../store/folder-lock.js';
import {livenessOf, ownMark, wasThere} from '../store/owner.js';
import {readPlainText} from '../store/read-plain.js';
import {isTokenOf, tokenHash, tokenOf} from './session-token.js';
import type {Holder, Reservation} from './types.js';

const ENDING = '.lock';
const MAX_BYTES = 4096;
/** How long a lock of another machine's or container's holds that is not refreshed. */
const FOREIGN_MS = 10 * 60_000;
const REFRESH_MS = 60_000;

/** Where the lock of an identity is. */
export const lockPath = (folder: string, identity: string): string => join(folder, `${identity}${ENDING}`);

/** Who has an identity at present; undefined if nobody does, or whoever did is dead. */
export async function holderIn(folder: string, identity: string): Promise<Holder | undefined> {
	const path = lockPath(folder, identity);
	const found = await readLock(path);
	return found && (await isHeld(path, found)) ? found.holder : undefined;
}

/** Whether a live process holds an identity in this folder. */
export async function isInUse(folder: string): Promise<boolean> {
	for (const identity of await lockedIdentities(folder)) if (await holderIn(folder, identity)) return true;
	return false;
}

/** The holder of an identity, ignoring case: names that differ only in case are the same identity. */
export async function holderOfAnyCase(folder: string, identity: string): Promise<Holder | undefined> {
	for (const each of await lockedIdentities(folder)) {
		const holder = each.toLowerCase() === identity.toLowerCase() && (await holderIn(folder, each));
		if (holder) return holder;
	}
	return;
}

/** A live session, and the mark of its process. */
export type TokenHolder = Holder & {readonly identity: string; readonly mark: string | undefined};

/** The live session that has this token. */
export async function holderOfToken(folder: string, token: string): Promise<TokenHolder | undefined> {
	for (const identity of await lockedIdentities(folder)) {
		const path = lockPath(folder, identity);
		const found = await readLock(path);
		if (found && isTokenOf(found.token, token) && (await isHeld(path, found)))
			return {...found.holder, identity, mark: found.mark};
	}
	return;
}

/** The identities whose locks were left by the dead. */
export async function staleLocks(folder: string): Promise<string[]> {
	const stale: string[] = [];
	for (const identity of await lockedIdentities(folder))
		if (!(await holderIn(folder, identity))) stale.push(identity);
	return stale;
}

const lockedIdentities = async (folder: string): Promise<string[]> =>
	(await readdir(folder).catch(() => []))
		.filter(name => name.endsWith(ENDING) && !name.startsWith('.'))
		.map(name => name.slice(0, -ENDING.length));

type Lock = {
	readonly holder: Holder;
	readonly mark: string | undefined;
	/** The hash of the session's token. */
	readonly token: string | undefined;
};

async function readLock(path: string): Promise<Lock | undefined> {
	try {
		const {
			pid,
			codex_id,
			startedAt,
			process: mark,
			token,
		} = JSON.parse((await readPlainText(path, MAX_BYTES)) ?? '');
		if (typeof pid !== 'number' || typeof codex_id !== 'string') return;
		const holder = {pid, codexId: codex_id, startedAt: String(startedAt ?? '')};
		return {holder, mark: textOf(mark), token: textOf(token)};
	} catch {
		// Whoever wrote it died at that, or it is none.
		return;
	}
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

async function isHeld(path: string, {holder, mark}: Lock): Promise<boolean> {
	if (mark === undefined) return wasThere(holder.pid, new Date(holder.startedAt));
	const liveness = livenessOf(mark);
	return liveness === 'foreign' ? isFresh(path, FOREIGN_MS) : liveness === 'alive';
}

/** The identities that this process has. All but `holds` is to be called under the registry's lock. */
export class IdentityLocks {
	readonly #folder: string;
	readonly #held = new Map<string, Holder>();
	readonly #timer: NodeJS.Timeout;

	constructor(folder: string) {
		this.#folder = folder;
		this.#timer = setInterval(() => void this.#refresh(), REFRESH_MS).unref();
	}

	/** Who has it in this process. */
	holds(identity: string): Holder | undefined {
		return this.#held.get(identity);
	}

	get identities(): string[] {
		return [...this.#held.keys()];
	}

	async take(identity: string, codexId: string, at: Date): Promise<Reservation> {
		const holder = this.#held.get(identity) ?? (await holderIn(this.#folder, identity));
		if (holder)
			return holder.codexId === codexId && this.#held.has(identity) ? HELD : {isHeld: false, holder};
		const path = lockPath(this.#folder, identity);
		await unlink(path).catch(() => {});
		const startedAt = at.toISOString();
		const token = tokenHash(tokenOf(codexId));
		const lock = {pid: process.pid, codex_id: codexId, startedAt, process: ownMark(), token};
		await writeFile(path, `${JSON.stringify(lock)}\n`, {flag: 'wx', mode: 0o600});
		this.#held.set(identity, {codexId, pid: process.pid, startedAt});
		return HELD;
	}

	/** The same among the sessions of this process, where nothing can be written. */
	takeInMemory(identity: string, codexId: string, at: Date): Reservation {
		const holder = this.#held.get(identity);
		if (holder) return holder.codexId === codexId ? HELD : {isHeld: false, holder};
		this.#held.set(identity, {codexId, pid: process.pid, startedAt: at.toISOString()});
		return HELD;
	}

	async give(identity: string): Promise<void> {
		if (!this.#held.delete(identity)) return;
		const path = lockPath(this.#folder, identity);
		// If it is another's by now, somebody took this process for dead.
		if ((await readLock(path))?.mark === ownMark()) await unlink(path).catch(() => {});
	}

	stop(): void {
		clearInterval(this.#timer);
	}

	async #refresh(): Promise<void> {
		for (const identity of this.#held.keys()) await refresh(lockPath(this.#folder, identity));
	}
}

const HELD: Reservation = {isHeld: true};
