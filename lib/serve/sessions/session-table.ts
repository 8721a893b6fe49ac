import {access, rename} from 'node:fs/promises';
import {join} from 'node:path';
import {fileStamp} from '../../config/read-file.js';
import {BridgeError} from '../../core/errors.js';
import type {Log} from '../../core/log.js';
import {writeAtomically} from '../../files/atomic-write.js';
import {FileRejectedError, readRegularTextFile} from '../../files/read-regular-file.js';
import {RotatingLineFile} from '../../files/rotating-line-file.js';
import {
	CorruptRegistryError,
	emptyRegistry,
	formatRegistry,
	isSessionRecord,
	NewerRegistryError,
	parseEntry,
	parseRegistry,
	type RegistryContent,
	type StoredRecord,
} from './registry-file.js';
import type {SessionEntry} from './types.js';

/** Limit of ended sessions in the file. Older ones are moved to the archive. */
const MAX_ENDED = 1000;
const MAX_BYTES = 64 * 2 ** 20;
const ARCHIVE_BYTES = 16 * 2 ** 20;

type SessionTableOptions = {readonly folder: string; readonly log: Log; readonly now: () => Date};

export const registryPath = (folder: string): string => join(folder, 'registry.json');

/** The registry file merged with the changes of this process. Read and write require the folder lock. */
export class SessionTable {
	readonly #options: SessionTableOptions;
	readonly #path: string;
	readonly #archive: RotatingLineFile;
	#content: RegistryContent = emptyRegistry;
	#stamp = 'gone';
	/** The merged view: entries of the file and unsaved changes. */
	readonly #entries = new Map<string, SessionEntry>();
	/** Entries that this process owns: its active sessions, and others until they are written. */
	readonly #own = new Map<string, SessionEntry>();
	#changedIds = new Set<string>();
	/** The path that a corrupt file was moved to. */
	corruptFile: string | undefined;

	constructor(options: SessionTableOptions) {
		this.#options = options;
		this.#path = registryPath(options.folder);
		const path = join(options.folder, 'registry-archive.jsonl');
		this.#archive = new RotatingLineFile({path, maxBytes: ARCHIVE_BYTES, maxOldFiles: 1, now: options.now});
	}

	entries(): readonly SessionEntry[] {
		return [...this.#entries.values()];
	}

	get(codexId: string): SessionEntry | undefined {
		return this.#entries.get(codexId);
	}

	get hasChanges(): boolean {
		return this.#changedIds.size > 0;
	}

	isOwn(codexId: string): boolean {
		return this.#own.has(codexId);
	}

	put(entry: SessionEntry): void {
		this.#entries.set(entry.codex_id, entry);
		this.#own.set(entry.codex_id, entry);
		this.#changedIds.add(entry.codex_id);
	}

	remove(codexId: string): void {
		this.#own.delete(codexId);
		if (this.#entries.delete(codexId)) this.#changedIds.add(codexId);
	}

	/** Merges changes that other processes have written. */
	async read(): Promise<void> {
		const stamp = await fileStamp(this.#path);
		if (stamp === this.#stamp) return;
		this.#content = await this.#load();
		this.#stamp = stamp;
		const removed = [...this.#changedIds].filter(id => !this.#own.has(id));
		const found = [...this.#content.records.values()].map(parseEntry).filter(entry => entry !== undefined);
		this.#entries.clear();
		for (const entry of [...found, ...this.#own.values()]) this.#entries.set(entry.codex_id, entry);
		for (const id of removed) this.#entries.delete(id);
	}

	/** Writes the merged entries durably. After a failure, the next attempt includes the same changes. */
	async write(): Promise<void> {
		await this.read();
		const changed = this.#changedIds;
		this.#changedIds = new Set();
		try {
			const {extraMembers} = this.#content;
			const records = this.#mergeRecords(changed);
			const archivedIds = this.#archiveOldest(records);
			for (const id of archivedIds) records.delete(id);
			await writeAtomically(this.#path, formatRegistry({extraMembers, records}));
			this.#content = {extraMembers, records};
			this.#stamp = await fileStamp(this.#path);
			for (const id of archivedIds) {
				this.#entries.delete(id);
				this.#own.delete(id);
			}
		} catch (error) {
			for (const id of changed) this.#changedIds.add(id);
			throw error;
		}
		for (const [id, {status}] of this.#own)
			if (status !== 'active' && !this.#changedIds.has(id)) this.#own.delete(id);
	}

	/** Applies own changes to the records of the file. Unknown members are preserved. */
	#mergeRecords(changed: ReadonlySet<string>): Map<string, StoredRecord> {
		const records = new Map(this.#content.records);
		for (const id of changed) if (!this.#own.has(id)) records.delete(id);
		for (const [id, entry] of this.#own)
			if (changed.has(id) || !records.has(id)) records.set(id, {...records.get(id), ...entry});
		return records;
	}

	/** Moves the oldest ended sessions beyond the limit to the archive. Returns their ids. */
	#archiveOldest(records: ReadonlyMap<string, StoredRecord>): string[] {
		if (records.size <= MAX_ENDED) return [];
		const ended = [...records].filter(([, record]) => isSessionRecord(record) && record.status !== 'active');
		const newest = ended.sort(([, one], [, other]) => lastActiveMs(other) - lastActiveMs(one));
		const old = newest.slice(MAX_ENDED);
		for (const [, record] of old) this.#archive.append(`${JSON.stringify(record)}\n`);
		this.#archive.close();
		return old.map(([id]) => id);
	}

	async #load(): Promise<RegistryContent> {
		try {
			const text = await readRegularTextFile(this.#path, MAX_BYTES, {isOwn: true});
			return text === undefined ? emptyRegistry : parseRegistry(text);
		} catch (error) {
			if (error instanceof NewerRegistryError) throw newerVersionError(this.#path, error.message);
			if (!(error instanceof CorruptRegistryError || error instanceof FileRejectedError)) throw error;
			this.corruptFile = await this.#moveCorruptFile(error.message);
			// The content of the last successful read is kept.
			return this.#content;
		}
	}

	async #moveCorruptFile(reason: string): Promise<string> {
		const stem = `${this.#path}.corrupt-${this.#options.now().toISOString().replace(/[:.]/g, '-')}`;
		let target = stem;
		for (let count = 1; await exists(target); count++) target = `${stem}.${count}`;
		await rename(this.#path, target);
		const sentence = `${this.#path} cannot be used: ${reason}. It was moved to ${target}, and a new registry was created.`;
		this.#options.log.error('registry.corrupt', sentence, {file: this.#path, keptAside: target, reason});
		return target;
	}
}

const lastActiveMs = ({last_active}: StoredRecord): number => Date.parse(String(last_active)) || 0;

const exists = (path: string): Promise<boolean> =>
	access(path).then(
		() => true,
		() => false,
	);

const newerVersionError = (path: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${path} was written by a newer version of bridge: ${reason}, and this build supports version 1. The file was not changed.`,
		'Upgrade bridge, or set ATM_HOME to another folder.',
		{file: path},
	);
