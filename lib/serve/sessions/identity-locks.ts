import {readdir, unlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {isRecentlyModified, touchFile} from '../../files/folder-lock.js';
import {livenessOf, ownProcessIdentity, wasProcessRunningAt} from '../../files/process-identity.js';
import {readRegularTextFile} from '../../files/read-regular-file.js';
import {hashSessionToken, matchesTokenHash, sessionToken} from './session-token.js';
import type {IdentityOwner, IdentityReservation} from './types.js';

const LOCK_EXTENSION = '.lock';
const MAX_BYTES = 4096;
/** A lock of another machine or container expires unless it is refreshed within this time. */
const FOREIGN_LOCK_TTL_MS = 10 * 60_000;
const REFRESH_INTERVAL_MS = 60_000;

export const identityLockPath = (folder: string, identity: string): string =>
	join(folder, `${identity}${LOCK_EXTENSION}`);

/** Returns the live owner of an identity. Locks of dead processes are ignored. */
export async function findIdentityOwner(
	folder: string,
	identity: string,
): Promise<IdentityOwner | undefined> {
	const path = identityLockPath(folder, identity);
	const lock = await readLock(path);
	return lock && (await isLive(path, lock)) ? lock.owner : undefined;
}

export async function hasLiveLocks(folder: string): Promise<boolean> {
	for (const identity of await listLockedIdentities(folder))
		if (await findIdentityOwner(folder, identity)) return true;
	return false;
}

/** Like `findIdentityOwner`, but ignores case: names that differ only in case are the same identity. */
export async function findIdentityOwnerIgnoringCase(
	folder: string,
	identity: string,
): Promise<IdentityOwner | undefined> {
	for (const lockedIdentity of await listLockedIdentities(folder)) {
		const owner =
			lockedIdentity.toLowerCase() === identity.toLowerCase() &&
			(await findIdentityOwner(folder, lockedIdentity));
		if (owner) return owner;
	}
	return;
}

type TokenOwner = IdentityOwner & {readonly identity: string; readonly mark: string | undefined};

export async function findTokenOwner(folder: string, token: string): Promise<TokenOwner | undefined> {
	for (const identity of await listLockedIdentities(folder)) {
		const path = identityLockPath(folder, identity);
		const lock = await readLock(path);
		if (lock && matchesTokenHash(lock.tokenHash, token) && (await isLive(path, lock)))
			return {...lock.owner, identity, mark: lock.mark};
	}
	return;
}

/** Returns the identities with locks of dead processes. */
export async function staleIdentities(folder: string): Promise<string[]> {
	const stale: string[] = [];
	for (const identity of await listLockedIdentities(folder))
		if (!(await findIdentityOwner(folder, identity))) stale.push(identity);
	return stale;
}

const listLockedIdentities = async (folder: string): Promise<string[]> =>
	(await readdir(folder).catch(() => []))
		.filter(name => name.endsWith(LOCK_EXTENSION) && !name.startsWith('.'))
		.map(name => name.slice(0, -LOCK_EXTENSION.length));

type IdentityLock = {
	readonly owner: IdentityOwner;
	readonly mark: string | undefined;
	readonly tokenHash: string | undefined;
};

async function readLock(path: string): Promise<IdentityLock | undefined> {
	try {
		const {
			pid,
			codex_id,
			startedAt,
			process: mark,
			token,
		} = JSON.parse((await readRegularTextFile(path, MAX_BYTES)) ?? '');
		if (typeof pid !== 'number' || typeof codex_id !== 'string') return;
		const owner = {pid, codexId: codex_id, startedAt: String(startedAt ?? '')};
		return {owner, mark: stringOrUndefined(mark), tokenHash: stringOrUndefined(token)};
	} catch {
		// The file is not a lock, or the process exited while it wrote one.
		return;
	}
}

const stringOrUndefined = (value: unknown): string | undefined =>
	typeof value === 'string' ? value : undefined;

async function isLive(path: string, {owner, mark}: IdentityLock): Promise<boolean> {
	if (mark === undefined) return wasProcessRunningAt(owner.pid, new Date(owner.startedAt));
	const liveness = livenessOf(mark);
	return liveness === 'foreign' ? isRecentlyModified(path, FOREIGN_LOCK_TTL_MS) : liveness === 'alive';
}

/** The identity locks of this process. `acquire` and `release` require the registry's folder lock. */
export class IdentityLocks {
	readonly #folder: string;
	readonly #owned = new Map<string, IdentityOwner>();
	readonly #timer: NodeJS.Timeout;

	constructor(folder: string) {
		this.#folder = folder;
		this.#timer = setInterval(() => void this.#refresh(), REFRESH_INTERVAL_MS).unref();
	}

	ownerOf(identity: string): IdentityOwner | undefined {
		return this.#owned.get(identity);
	}

	get identities(): string[] {
		return [...this.#owned.keys()];
	}

	async acquire(identity: string, codexId: string, at: Date): Promise<IdentityReservation> {
		const owner = this.#owned.get(identity) ?? (await findIdentityOwner(this.#folder, identity));
		if (owner)
			return owner.codexId === codexId && this.#owned.has(identity) ? RESERVED : {isReserved: false, owner};
		const path = identityLockPath(this.#folder, identity);
		await unlink(path).catch(() => {});
		const startedAt = at.toISOString();
		const token = hashSessionToken(sessionToken(codexId));
		const lock = {pid: process.pid, codex_id: codexId, startedAt, process: ownProcessIdentity(), token};
		await writeFile(path, `${JSON.stringify(lock)}\n`, {flag: 'wx', mode: 0o600});
		this.#owned.set(identity, {codexId, pid: process.pid, startedAt});
		return RESERVED;
	}

	/** Reserves an identity within this process only, for when the folder cannot be written. */
	acquireInMemory(identity: string, codexId: string, at: Date): IdentityReservation {
		const owner = this.#owned.get(identity);
		if (owner) return owner.codexId === codexId ? RESERVED : {isReserved: false, owner};
		this.#owned.set(identity, {codexId, pid: process.pid, startedAt: at.toISOString()});
		return RESERVED;
	}

	async release(identity: string): Promise<void> {
		if (!this.#owned.delete(identity)) return;
		const path = identityLockPath(this.#folder, identity);
		// Another process may have replaced the lock because it considered this one dead.
		if ((await readLock(path))?.mark === ownProcessIdentity()) await unlink(path).catch(() => {});
	}

	stop(): void {
		clearInterval(this.#timer);
	}

	async #refresh(): Promise<void> {
		for (const identity of this.#owned.keys()) await touchFile(identityLockPath(this.#folder, identity));
	}
}

const RESERVED: IdentityReservation = {isReserved: true};
