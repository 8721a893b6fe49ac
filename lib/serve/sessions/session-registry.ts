import {chmod, unlink} from 'node:fs/promises';
import {constants} from 'node:os';
import {join} from 'node:path';
import type {Log} from '../../core/log.js';
import {removeStaleTempFiles} from '../../files/atomic-write.js';
import {withFolderLock} from '../../files/folder-lock.js';
import {GroupCommit} from '../../files/group-commit.js';
import {makeFolder} from '../../files/make-folder.js';
import {findEntry} from './find-entry.js';
import {findIdentityOwner, IdentityLocks, identityLockPath, staleIdentities} from './identity-locks.js';
import {SessionTable} from './session-table.js';
import type {IdentityReservation, RegistryHealth, SessionEntry} from './types.js';

export type SessionRegistryOptions = {
	/** The team's folder: see `stateFolder` in lib/serve/paths.ts. */
	readonly folder: string;
	readonly team: string;
	readonly log: Log;
	/** False keeps everything in memory. */
	readonly isPersistent?: boolean;
	readonly now?: () => Date;
};

/** Delay before a `touch` is saved. */
const TOUCH_DELAY_MS = 1500;

/** The sessions of a team, persisted in a file. Acknowledged changes survive a crash. */
export class SessionRegistry {
	readonly #options: SessionRegistryOptions;
	readonly #now: () => Date;
	readonly #table: SessionTable;
	readonly #locks: IdentityLocks;
	readonly #commit: GroupCommit;
	#touchTimer: NodeJS.Timeout | undefined;
	#refreshing: Promise<unknown> = Promise.resolve();
	#lastError: string | undefined;

	private constructor(options: SessionRegistryOptions) {
		this.#options = options;
		this.#now = options.now ?? (() => new Date());
		this.#table = new SessionTable({folder: options.folder, log: options.log, now: this.#now});
		this.#locks = new IdentityLocks(options.folder);
		this.#commit = new GroupCommit(() => this.#save());
	}

	/**
	 * Reads the file. Sessions of exited processes become stale. An invalid file is moved aside, and one of a
	 * newer version is rejected. If the folder cannot be written, the registry logs an error and works in
	 * memory.
	 */
	static async open(options: SessionRegistryOptions): Promise<SessionRegistry> {
		const registry = new SessionRegistry(options);
		if (options.isPersistent === false) return registry;
		try {
			await makeFolder(options.folder);
			await chmod(options.folder, 0o700);
			await removeStaleTempFiles(options.folder);
			await registry.#withLock(() => registry.#markStale());
		} catch (error) {
			if (!isDiskError(error)) throw error;
			// A file that cannot be read is not overwritten: each save reads it first.
			await registry.#table.read().catch(() => {});
			registry.#reportError(error);
		}
		return registry;
	}

	/** Reads changes of other processes, and marks the sessions of exited processes as stale. */
	async refresh(): Promise<void> {
		if (!this.#isPersistent) return;
		this.#refreshing = this.#refreshing
			.then(() => this.#withLock(() => this.#markStale()))
			.catch(error => this.#reportError(error));
		await this.#refreshing;
	}

	/** The folder of the registry file and of the identity locks. */
	get folder(): string {
		return this.#options.folder;
	}

	/** Includes entries of other processes as of the last read. */
	entries(): readonly SessionEntry[] {
		return this.#table.entries();
	}

	get(codexId: string): SessionEntry | undefined {
		return this.#table.get(codexId);
	}

	find(ref: string): SessionEntry | undefined {
		return findEntry(this.#table.entries(), ref);
	}

	/** Adds or replaces an entry, which this process then owns. Resolves when it is durable. */
	put(entry: SessionEntry): Promise<void> {
		this.#table.put(entry);
		return this.flush();
	}

	/** Removes the entry of a session that failed to start. */
	remove(codexId: string): Promise<void> {
		this.#table.remove(codexId);
		return this.flush();
	}

	/** Updates the time of last use. Saved within 2 s. */
	touch(codexId: string, lastActive: Date): void {
		const entry = this.#table.get(codexId);
		if (!entry || !this.#table.isOwn(codexId)) return;
		this.#table.put({...entry, last_active: lastActive.toISOString()});
		this.#touchTimer ??= setTimeout(() => this.flush().catch(() => {}), TOUCH_DELAY_MS).unref();
	}

	/** Reserves an identity for a session among all processes that use this folder. */
	async reserve(identity: string, codexId: string): Promise<IdentityReservation> {
		const acquire = (): Promise<IdentityReservation> => this.#locks.acquire(identity, codexId, this.#now());
		if (!this.#isPersistent) return this.#locks.acquireInMemory(identity, codexId, this.#now());
		try {
			return await this.#withLock(acquire);
		} catch (error) {
			if (!isDiskError(error)) throw error;
			this.#reportError(error);
			return this.#locks.acquireInMemory(identity, codexId, this.#now());
		}
	}

	/** Releases an identity. Does nothing if this process does not own it. */
	async release(identity: string): Promise<void> {
		if (!this.#locks.ownerOf(identity)) return;
		const release = (): Promise<void> => this.#locks.release(identity);
		await (this.#isPersistent ? this.#withLock(release).catch(release) : release());
	}

	health(): RegistryHealth {
		const persist = !this.#isPersistent ? 'off' : this.#lastError === undefined ? 'ok' : 'degraded';
		return {persist, lastError: this.#lastError, corruptFile: this.#table.corruptFile};
	}

	/** Resolves when all changes so far are on disk. Rejects if saving fails. */
	flush(): Promise<void> {
		clearTimeout(this.#touchTimer);
		this.#touchTimer = undefined;
		if (!this.#isPersistent) return Promise.resolve();
		return this.#table.hasChanges ? this.#commit.commit() : this.#commit.pending();
	}

	/** Saves pending changes and releases all identities. */
	async close(): Promise<void> {
		try {
			await this.flush();
		} finally {
			for (const identity of this.#locks.identities) await this.release(identity);
			this.#locks.stop();
		}
	}

	get #isPersistent(): boolean {
		return this.#options.isPersistent !== false;
	}

	#withLock<T>(action: () => Promise<T>): Promise<T> {
		return withFolderLock(join(this.#options.folder, '.lock'), action);
	}

	/** Marks sessions of exited processes as stale, so that they can be resumed, and removes their locks. */
	async #markStale(): Promise<void> {
		const {folder, team} = this.#options;
		await this.#table.read();
		const stale: string[] = [];
		for (const entry of this.#table.entries()) {
			if (entry.status !== 'active' || entry.team !== team || this.#table.isOwn(entry.codex_id)) continue;
			const owner = await findIdentityOwner(folder, entry.identity);
			if (owner?.codexId === entry.codex_id) continue;
			this.#table.put({...entry, status: 'stale', state: 'closed'});
			stale.push(`${entry.identity} (${entry.codex_id})`);
		}
		if (stale.length > 0)
			this.#options.log.warn('session.stale', staleSentence(stale), {sessions: stale.length});
		for (const identity of await staleIdentities(folder))
			await unlink(identityLockPath(folder, identity)).catch(() => {});
		if (this.#table.hasChanges) await this.#table.write();
	}

	async #save(): Promise<void> {
		try {
			await this.#withLock(async () => {
				if (this.#table.hasChanges) await this.#table.write();
			});
			if (this.#lastError !== undefined)
				this.#options.log.info('registry.saved', 'The session registry can be saved again.');
			this.#lastError = undefined;
		} catch (error) {
			this.#reportError(error);
			throw error;
		}
	}

	/** Logs the first failure only, until a save succeeds again. */
	#reportError(error: unknown): void {
		const reason = error instanceof Error ? error.message : String(error);
		const sentence =
			'The session registry cannot be saved. Unsaved changes are lost when this process exits. Each change retries the save.';
		if (this.#lastError === undefined)
			this.#options.log.error('registry.unsaved', sentence, {folder: this.#options.folder, reason});
		this.#lastError = reason;
	}
}

/** Limit of sessions listed in one log line. */
const MAX_LISTED = 20;

const staleSentence = (sessions: readonly string[]): string => {
	const more = sessions.length > MAX_LISTED ? `, and ${sessions.length - MAX_LISTED} more` : '';
	const listed = sessions.slice(0, MAX_LISTED).join(', ');
	return `Sessions of a bridge serve that did not shut down properly are now stale: ${listed}${more}. Resume a session with codex and its codex_id.`;
};

const diskErrorCodes = new Set([
	'ENOSPC',
	'EDQUOT',
	'EROFS',
	'EIO',
	'EACCES',
	'EPERM',
	'EMFILE',
	'ENFILE',
	'ENOTDIR',
	'EEXIST',
]);

/** Whether an error comes from the file system. Node has no name for `EDQUOT`, only its number. */
const isDiskError = (error: unknown): boolean => {
	const {code = '', errno = 0} = error as NodeJS.ErrnoException;
	return diskErrorCodes.has(code) || -errno === constants.errno.EDQUOT;
};
