import {join} from 'node:path';
import type {Log} from '../../core/log.js';
import {makeFolder} from '../../files/make-folder.js';
import {RotatingLineFile} from '../../files/rotating-line-file.js';
import {formatAuditLine} from './audit-line.js';
import type {AuditEntry} from './types.js';

export type AuditFileOptions = {
	/** The folder of `audit.jsonl`: see `auditFolder` in lib/serve/paths.ts. */
	readonly folder: string;
	readonly log: Log;
	/** `always` syncs after each line; the default syncs once a second and on close. */
	readonly fsync?: 'second' | 'always';
	readonly maxBytes?: number;
	readonly now?: () => Date;
};

const MAX_BYTES = 64 * 2 ** 20;
const KEPT_FILES = 10;
const SYNC_MS = 1000;
/** Limit of lines buffered while writing fails. The oldest line is dropped for the next one. */
const MAX_BUFFERED_LINES = 1000;

/** The audit file: one JSON line per event. Write failures never reach the caller. */
export class AuditFile {
	readonly #file: RotatingLineFile;
	readonly #options: AuditFileOptions;
	readonly #now: () => Date;
	readonly #bufferedLines: string[] = [];
	#droppedLines = 0;
	#isFailing = false;
	#timer: NodeJS.Timeout | undefined;

	private constructor(options: AuditFileOptions) {
		const {folder, maxBytes = MAX_BYTES, now = () => new Date()} = options;
		this.#options = options;
		this.#now = now;
		this.#file = new RotatingLineFile({
			path: join(folder, 'audit.jsonl'),
			maxBytes,
			maxOldFiles: KEPT_FILES,
			now,
		});
	}

	/** Resolves even if the folder cannot be created: this is logged, and each line retries the write. */
	static async open(options: AuditFileOptions): Promise<AuditFile> {
		const audit = new AuditFile(options);
		await makeFolder(options.folder).catch(error => audit.#reportFailure(error));
		return audit;
	}

	/** Writes a line before it returns. A failure is logged and the line buffered; nothing is thrown. */
	write(entry: AuditEntry): void {
		this.#bufferedLines.push(formatAuditLine(entry, this.#now()));
		this.#flush();
		if (this.#bufferedLines.length > MAX_BUFFERED_LINES) {
			this.#bufferedLines.shift();
			this.#droppedLines++;
		}
		this.#timer ??= setTimeout(() => this.#flushAndSync(), SYNC_MS).unref();
	}

	/** Writes buffered lines and closes the file. Logs the number of lost lines. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		this.#flush();
		try {
			this.#file.close();
		} catch (error) {
			this.#reportFailure(error);
		}
		const lines = this.#bufferedLines.length + this.#droppedLines;
		if (lines > 0)
			this.#options.log.error('audit.lost', `${lines} lines of the audit file could not be written.`, {
				lines,
			});
	}

	/** Writes buffered lines in order until a write fails. */
	#flush(): void {
		try {
			if (this.#droppedLines > 0 && this.#bufferedLines.length > 0) {
				this.#file.append(
					formatAuditLine(
						{event: 'gap', correlationId: '', details: {lines: this.#droppedLines}},
						this.#now(),
					),
				);
				this.#droppedLines = 0;
			}
			for (let [line] = this.#bufferedLines; line !== undefined; [line] = this.#bufferedLines) {
				this.#file.append(line);
				this.#bufferedLines.shift();
			}
			if (this.#options.fsync === 'always') this.#file.syncNow();
			if (this.#isFailing) this.#options.log.info('audit.written', 'The audit file can be written again.');
			this.#isFailing = false;
		} catch (error) {
			this.#reportFailure(error);
		}
	}

	#flushAndSync(): void {
		this.#timer = undefined;
		this.#flush();
		this.#file.sync().catch(error => this.#reportFailure(error));
		if (this.#bufferedLines.length > 0) this.#timer = setTimeout(() => this.#flushAndSync(), SYNC_MS).unref();
	}

	/** Logs the first failure only, until a write succeeds again. */
	#reportFailure(error: unknown): void {
		if (this.#isFailing) return;
		this.#isFailing = true;
		const reason = error instanceof Error ? error.message : String(error);
		const sentence = `The audit file cannot be written. Up to ${MAX_BUFFERED_LINES} lines are buffered in memory; older ones are dropped.`;
		this.#options.log.error('audit.unwritten', sentence, {folder: this.#options.folder, reason});
	}
}
