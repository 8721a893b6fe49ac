import {join} from 'node:path';
import type {Log} from '../log.js';
import {LineFile} from '../store/line-file.js';
import {makeFolder} from '../store/make-folder.js';
import {auditLine} from './audit-line.js';
import type {AuditEntry} from './types.js';

export type AuditOptions = {
	/** Where `audit.jsonl` is: see `auditFolder` in lib/atm/paths.ts. */
	readonly folder: string;
	readonly log: Log;
	/** `always` syncs each line; else each second and at the end. */
	readonly fsync?: 'second' | 'always';
	readonly maxBytes?: number;
	readonly now?: () => Date;
};

const MAX_BYTES = 64 * 2 ** 20;
const KEEP = 10;
const SYNC_MS = 1000;
/** How many lines wait for a disk that takes none. */
const MAX_WAITING = 1000;

/** The file of what was done for whom: one line a thing, never blocking what it tells of. */
export class Audit {
	readonly #file: LineFile;
	readonly #options: AuditOptions;
	readonly #now: () => Date;
	/** Lines that could not be written yet, and how many more there were. */
	readonly #waiting: string[] = [];
	#lost = 0;
	#isFailing = false;
	#timer: NodeJS.Timeout | undefined;

	private constructor(options: AuditOptions) {
		const {folder, maxBytes = MAX_BYTES, now = () => new Date()} = options;
		this.#options = options;
		this.#now = now;
		this.#file = new LineFile({path: join(folder, 'audit.jsonl'), maxBytes, keep: KEEP, now});
	}

	/** Also where it cannot be written: that is told, and tried again with each line. */
	static async open(options: AuditOptions): Promise<Audit> {
		const audit = new Audit(options);
		await makeFolder(options.folder).catch(error => audit.#fail(error));
		return audit;
	}

	/** The line is with the system when this returns. A failure is logged and counted, and never thrown. */
	write(entry: AuditEntry): void {
		this.#waiting.push(auditLine(entry, this.#now()));
		this.#flush();
		if (this.#waiting.length > MAX_WAITING) {
			this.#waiting.shift();
			this.#lost++;
		}
		this.#timer ??= setTimeout(() => this.#tick(), SYNC_MS).unref();
	}

	/** Writes what waits, and makes all of it safe. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		this.#flush();
		try {
			this.#file.close();
		} catch (error) {
			this.#fail(error);
		}
		const lines = this.#waiting.length + this.#lost;
		if (lines > 0)
			this.#options.log.error('audit.lost', `${lines} lines of the audit file could not be written.`, {
				lines,
			});
	}

	/** Writes lines in their order until one does not fit. */
	#flush(): void {
		try {
			if (this.#lost > 0 && this.#waiting.length > 0) {
				this.#file.append(
					auditLine({event: 'gap', correlationId: '', details: {lines: this.#lost}}, this.#now()),
				);
				this.#lost = 0;
			}
			for (let [line] = this.#waiting; line !== undefined; [line] = this.#waiting) {
				this.#file.append(line);
				this.#waiting.shift();
			}
			if (this.#options.fsync === 'always') this.#file.syncNow();
			if (this.#isFailing) this.#options.log.info('audit.written', 'The audit file is being written again.');
			this.#isFailing = false;
		} catch (error) {
			this.#fail(error);
		}
	}

	#tick(): void {
		this.#timer = undefined;
		this.#flush();
		this.#file.sync().catch(error => this.#fail(error));
		if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#tick(), SYNC_MS).unref();
	}

	/** Tells once that it does not work, however often it is tried. */
	#fail(error: unknown): void {
		if (this.#isFailing) return;
		this.#isFailing = true;
		const reason = error instanceof Error ? error.message : String(error);
		const sentence =
			'The audit file cannot be written: its lines wait in memory, and the oldest are lost if it lasts.';
		this.#options.log.error('audit.unwritten', sentence, {folder: this.#options.folder, reason});
	}
}
