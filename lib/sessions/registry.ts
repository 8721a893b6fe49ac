import type {Log} from '../log.js';
import type {RegistryHealth, Reservation, SessionEntry} from './types.js';

export type RegistryOptions = {
	/** The team's folder: see `stateFolder` in lib/atm/paths.ts. */
	readonly folder: string;
	readonly team: string;
	readonly log: Log;
	/** False keeps everything in memory. */
	readonly isPersistent?: boolean;
	readonly now?: () => Date;
};

/** All sessions of a team that are known, and their file: what is acknowledged survives a crash. */
export type Registry = {
	/** Those of other processes too, as they were when the file was last read. */
	entries(): readonly SessionEntry[];
	get(codexId: string): SessionEntry | undefined;
	/** By codex id, thread id (previous ones too) or identity; of several the active one, else the one used last. */
	find(idOrThreadOrIdentity: string): SessionEntry | undefined;
	/** Takes a new or changed entry as this process's own. Resolves when it is durable, rejects when it cannot be. */
	put(entry: SessionEntry): Promise<void>;
	/** Forgets an entry that never became a session. */
	remove(codexId: string): Promise<void>;
	/** Notes the time of use: on disk within 2 s. */
	touch(codexId: string, lastActive: Date): void;
	/** Takes an identity for a session, against all processes of this machine. */
	reserve(identity: string, codexId: string): Promise<Reservation>;
	/** Gives it back; nothing happens if it is not this process's. */
	release(identity: string): Promise<void>;
	health(): RegistryHealth;
	/** Resolves when all that was put so far is on disk, rejects if it cannot be. */
	saved(): Promise<void>;
	/** Saves what is left and gives all identities back. */
	close(): Promise<void>;
};
