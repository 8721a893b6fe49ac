import {access, rename} from 'node:fs/promises';
import {join} from 'node:path';
import {stampNow} from '../config/read.js';
import {BridgeError} from '../errors.js';
import type {Log} from '../log.js';
import {writeAtomically} from '../store/atomic-file.js';
import {LineFile} from '../store/line-file.js';
import {NotPlain, readPlainText} from '../store/read-plain.js';
import {
	type Content,
	CorruptRegistry,
	emptyContent,
	entryOf,
	formatRegistry,
	isSession,
	NewerRegistry,
	parseRegistry,
	type Stored,
} from './registry-file.js';
import type {SessionEntry} from './types.js';

/** How many sessions that are over stay in the file; older ones go to the archive. */
const MAX_OVER = 1000;
const MAX_BYTES = 64 * 2 ** 20;
const ARCHIVE_BYTES = 16 * 2 ** 20;

export type TableOptions = {readonly folder: string; readonly log: Log; readonly now: () => Date};

/** Where a registry is in its folder. */
export const registryPath = (folder: string): string => join(folder, 'registry.json');

/** What is in a registry's file, and what this process has to say about it. To be read and written under its lock. */
export class SessionTable {
	readonly #options: TableOptions;
	readonly #path: string;
	readonly #archive: LineFile;
	#content: Content = emptyContent;
	#stamp = 'gone';
	/** The view: what is in the file, with what is not there yet. */
	readonly #entries = new Map<string, SessionEntry>();
	/** Entries that this process answers for: all that are at work, and others until they are written. */
	readonly #own = new Map<string, SessionEntry>();
	#changed = new Set<string>();
	/** Where a file that was no registry is now. */
	keptAside: string | undefined;

	constructor(options: TableOptions) {
		this.#options = options;
		this.#path = registryPath(options.folder);
		const path = join(options.folder, 'registry-archive.jsonl');
		this.#archive = new LineFile({path, maxBytes: ARCHIVE_BYTES, keep: 1, now: options.now});
	}

	entries(): readonly SessionEntry[] {
		return [...this.#entries.values()];
	}

	get(codexId: string): SessionEntry | undefined {
		return this.#entries.get(codexId);
	}

	get hasChanges(): boolean {
		return this.#changed.size > 0;
	}

	/** Whether this process answers for it. */
	isOwn(codexId: string): boolean {
		return this.#own.has(codexId);
	}

	put(entry: SessionEntry): void {
		this.#entries.set(entry.codex_id, entry);
		this.#own.set(entry.codex_id, entry);
		this.#changed.add(entry.codex_id);
	}

	remove(codexId: string): void {
		this.#own.delete(codexId);
		if (this.#entries.delete(codexId)) this.#changed.add(codexId);
	}

	/** Takes over what others have written since. */
	async read(): Promise<void> {
		const stamp = await stampNow(this.#path);
		if (stamp === this.#stamp) return;
		this.#content = await this.#load();
		this.#stamp = stamp;
		const removed = [...this.#changed].filter(id => !this.#own.has(id));
		const found = [...this.#content.records.values()].map(entryOf).filter(entry => entry !== undefined);
		this.#entries.clear();
		for (const entry of [...found, ...this.#own.values()]) this.#entries.set(entry.codex_id, entry);
		for (const id of removed) this.#entries.delete(id);
	}

	/** Writes all there is, durably. After a failure nothing has changed, and the next attempt has it all again. */
	async write(): Promise<void> {
		await this.read();
		const changed = this.#changed;
		this.#changed = new Set();
		try {
			const {others} = this.#content;
			const records = this.#merged(changed);
			const old = this.#archived(records);
			for (const id of old) records.delete(id);
			await writeAtomically(this.#path, formatRegistry({others, records}));
			this.#content = {others, records};
			this.#stamp = await stampNow(this.#path);
			for (const id of old) {
				this.#entries.delete(id);
				this.#own.delete(id);
			}
		} catch (error) {
			for (const id of changed) this.#changed.add(id);
			throw error;
		}
		for (const [id, {status}] of this.#own)
			if (status !== 'active' && !this.#changed.has(id)) this.#own.delete(id);
	}

	/** What is in the file, changed by what is this process's. Members of others stay in it. */
	#merged(changed: ReadonlySet<string>): Map<string, Stored> {
		const records = new Map(this.#content.records);
		for (const id of changed) if (!this.#own.has(id)) records.delete(id);
		for (const [id, entry] of this.#own)
			if (changed.has(id) || !records.has(id)) records.set(id, {...records.get(id), ...entry});
		return records;
	}

	/** Puts the oldest of too many sessions that are over into the archive, and returns which they are. */
	#archived(records: ReadonlyMap<string, Stored>): string[] {
		if (records.size <= MAX_OVER) return [];
		const over = [...records].filter(([, record]) => isSession(record) && record.status !== 'active');
		const newest = over.sort(([, one], [, other]) => time(other) - time(one));
		const old = newest.slice(MAX_OVER);
		for (const [, record] of old) this.#archive.append(`${JSON.stringify(record)}\n`);
		this.#archive.close();
		return old.map(([id]) => id);
	}

	async #load(): Promise<Content> {
		try {
			const text = await readPlainText(this.#path, MAX_BYTES, {isOwn: true});
			return text === undefined ? emptyContent : parseRegistry(text);
		} catch (error) {
			if (error instanceof NewerRegistry) throw newer(this.#path, error.message);
			if (!(error instanceof CorruptRegistry || error instanceof NotPlain)) throw error;
			this.keptAside = await this.#putAside(error.message);
			// What was read before it broke is not lost.
			return this.#content;
		}
	}

	async #putAside(reason: string): Promise<string> {
		const stem = `${this.#path}.corrupt-${this.#options.now().toISOString().replace(/[:.]/g, '-')}`;
		let aside = stem;
		for (let count = 1; await isThere(aside); count++) aside = `${stem}.${count}`;
		await rename(this.#path, aside);
		const sentence = `${this.#path} cannot be used: ${reason}. It is kept as ${aside}, and a new one is begun.`;
		this.#options.log.error('registry.corrupt', sentence, {file: this.#path, keptAside: aside, reason});
		return aside;
	}
}

const time = ({last_active}: Stored): number => Date.parse(String(last_active)) || 0;

const isThere = (path: string): Promise<boolean> =>
	access(path).then(
		() => true,
		() => false,
	);

const newer = (path: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${path} was written by a later bridge: ${reason}, and this one knows version 1. Nothing was changed.`,
		'Use the later bridge, or another folder by ATM_HOME.',
		{file: path},
	);
