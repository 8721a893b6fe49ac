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

/** What was only used is on disk after so long. */
const TOUCH_DELAY_MS = 1500;

/** All sessions of a team that are known, and their file: what is acknowledged survives a crash. */
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
	 * Reads the file. Sessions whose process is gone become stale; a file that is no registry is kept aside; one of a later
	 * version is refused. Where nothing can be written, it goes on in memory and says so.
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
			// What cannot be read is not written over either: each save reads first.
			await registry.#table.read().catch(() => {});
			registry.#reportError(error);
		}
		return registry;
	}

	/** Looks what other processes have done since: their sessions may be over, or left by the dead. */
	async refresh(): Promise<void> {
		if (!this.#isPersistent) return;
		this.#refreshing = this.#refreshing
			.then(() => this.#withLock(() => this.#markStale()))
			.catch(error => this.#reportError(error));
		await this.#refreshing;
	}

	/** Where its file and the locks of identities are. */
	get folder(): string {
		return this.#options.folder;
	}

	/** Those of other processes too, as they were when the file was last read. */
	entries(): readonly SessionEntry[] {
		return this.#table.entries();
	}

	get(codexId: string): SessionEntry | undefined {
		return this.#table.get(codexId);
	}

	/** By codex id, thread id (previous ones too) or identity; of several the active one, else the one used last. */
	find(ref: string): SessionEntry | undefined {
		return findEntry(this.#table.entries(), ref);
	}

	/** Takes a new or changed entry as this process's own. Resolves when it is durable, rejects when it cannot be. */
	put(entry: SessionEntry): Promise<void> {
		this.#table.put(entry);
		return this.flush();
	}

	/** Forgets an entry that never became a session. */
	remove(codexId: string): Promise<void> {
		this.#table.remove(codexId);
		return this.flush();
	}

	/** Notes the time of use: on disk within 2 s. */
	touch(codexId: string, lastActive: Date): void {
		const entry = this.#table.get(codexId);
		if (!entry || !this.#table.isOwn(codexId)) return;
		this.#table.put({...entry, last_active: lastActive.toISOString()});
		this.#touchTimer ??= setTimeout(() => this.flush().catch(() => {}), TOUCH_DELAY_MS).unref();
	}

	/** Takes an identity for a session, against all processes of this machine. */
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

	/** Gives it back; nothing happens if it is not this process's. */
	async release(identity: string): Promise<void> {
		if (!this.#locks.ownerOf(identity)) return;
		const release = (): Promise<void> => this.#locks.release(identity);
		await (this.#isPersistent ? this.#withLock(release).catch(release) : release());
	}

	health(): RegistryHealth {
		const persist = !this.#isPersistent ? 'off' : this.#lastError === undefined ? 'ok' : 'degraded';
		return {persist, lastError: this.#lastError, corruptFile: this.#table.corruptFile};
	}

	/** Resolves when all that was put so far is on disk, rejects if it cannot be. */
	flush(): Promise<void> {
		clearTimeout(this.#touchTimer);
		this.#touchTimer = undefined;
		if (!this.#isPersistent) return Promise.resolve();
		return this.#table.hasChanges ? this.#commit.commit() : this.#commit.pending();
	}

	/** Saves what is left and gives all identities back. */
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

	/** What a process that is gone has left: its sessions can be resumed, and its identities are free. */
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
				this.#options.log.info('registry.saved', 'The registry is saved again.');
			this.#lastError = undefined;
		} catch (error) {
			this.#reportError(error);
			throw error;
		}
	}

	/** Tells once that nothing can be saved, however often it is tried. */
	#reportError(error: unknown): void {
		const reason = error instanceof Error ? error.message : String(error);
		const sentence =
			'The registry of sessions cannot be saved: what changes now is lost when this process ends. It is tried again with each change.';
		if (this.#lastError === undefined)
			this.#options.log.error('registry.unsaved', sentence, {folder: this.#options.folder, reason});
		this.#lastError = reason;
	}
}

/** Sessions that are named in one line of the log. */
const MAX_LISTED = 20;

const staleSentence = (sessions: readonly string[]): string => {
	const more = sessions.length > MAX_LISTED ? `, and ${sessions.length - MAX_LISTED} more` : '';
	const listed = sessions.slice(0, MAX_LISTED).join(', ');
	return `Left open by a bridge serve that did not end properly, and stale now: ${listed}${more}. codex with a codex_id resumes a session.`;
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

/** Whether it is the disk's fault, and no mistake in what was asked of it. Node has no name for a quota that is used up. */
const isDiskError = (error: unknown): boolean => {
	const {code = '', errno = 0} = error as NodeJS.ErrnoException;
	return diskErrorCodes.has(code) || -errno === constants.errno.EDQUOT;
};
