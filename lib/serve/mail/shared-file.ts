import {lstatSync} from 'node:fs';
import {lstat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {BridgeError} from '../../core/errors.js';
import {stageWrite, syncFolder} from '../../files/atomic-write.js';
import {FileRejectedError, readRegularFile} from '../../files/read-regular-file.js';
import {isWithin} from '../config/files.js';
import {IncompleteFileError} from './edit-inbox.js';
import {withFileLock} from './file-lock.js';

/** Limit on the size of a file. Other programs already have problems at a tenth of it. */
const MAX_SHARED_FILE_BYTES = 32 * 2 ** 20;
const READ_ATTEMPTS = 4;
const READ_RETRY_MS = 17;
/** Limit on retries of an edit if another program changes the file before it is replaced. */
const MAX_EDIT_ATTEMPTS = 50;

/**
 * A file that other programs also write, some of them in place, so that a read may see incomplete content.
 */
export class SharedFile {
	readonly path: string;
	readonly #root: string;

	/** `root` is the folder that must contain the file after links are resolved. */
	constructor(path: string, root: string) {
		this.path = path;
		this.#root = root;
	}

	/**
	 * A value that changes whenever the file changes. Undefined if the file does not exist. Synchronous,
	 * because `stat` in the thread pool would wait for pending disk writes.
	 */
	stamp(): string | undefined {
		try {
			const found = lstatSync(this.path, {bigint: true, throwIfNoEntry: false});
			return found && `${found.ino}:${found.size}:${found.mtimeNs}`;
		} catch {
			return;
		}
	}

	/**
	 * Reads and parses the file. `parse` gets undefined if the file does not exist. Incomplete content is read
	 * again, the last time under the lock.
	 */
	async read<T>(parse: (bytes: Buffer | undefined) => T): Promise<T> {
		await this.#checkLocation();
		try {
			return await this.#readComplete(parse);
		} catch (error) {
			if (!(error instanceof IncompleteFileError)) throw error;
			return await withFileLock(this.path, () => this.#readComplete(parse).catch(this.#rethrow));
		}
	}

	/**
	 * Replaces the content with the result of `edit`, or keeps it if that is undefined. No change of another
	 * program is lost: the edit runs under the lock, and is repeated on the new content if the file changed
	 * nevertheless. Invalid content is never replaced.
	 */
	async edit(edit: (bytes: Buffer | undefined) => Buffer | undefined): Promise<void> {
		await this.#checkLocation();
		const isChanged = await withFileLock(this.path, async () => {
			for (let retries = 0; retries < MAX_EDIT_ATTEMPTS; retries++) {
				const applyEdit = (bytes: Buffer | undefined) => ({before: bytes, after: edit(bytes)});
				const {before, after} = await this.#readComplete(applyEdit).catch(this.#rethrow);
				if (after === undefined) return false;
				if (await this.#replace(before, after)) return true;
			}
			throw unreadableError(this.path, 'other programs keep changing it');
		});
		if (isChanged) await syncFolder(dirname(this.path));
	}

	/** Reads and parses the file, with a few retries for incomplete content. */
	async #readComplete<T>(parse: (bytes: Buffer | undefined) => T): Promise<T> {
		for (let attempt = 1; ; attempt++) {
			try {
				return parse(await this.#bytes());
			} catch (error) {
				if (!(error instanceof IncompleteFileError) || attempt === READ_ATTEMPTS) throw error;
				await sleep(READ_RETRY_MS);
			}
		}
	}

	readonly #rethrow = (error: unknown): never => {
		throw error instanceof IncompleteFileError ? unreadableError(this.path, error.message) : error;
	};

	async #replace(before: Buffer | undefined, after: Buffer): Promise<boolean> {
		if (after.length > MAX_SHARED_FILE_BYTES) throw tooLargeError(this.path);
		const found = await lstat(this.path).catch(() => undefined);
		const successor = await stageWrite(this.path, after, found ? found.mode & 0o777 : 0o600);
		const current = await this.#bytes().catch(() => undefined);
		const isSame = before === undefined ? current === undefined : current?.equals(before);
		await (isSame ? successor.commit() : successor.discard());
		return isSame === true;
	}

	async #bytes(): Promise<Buffer | undefined> {
		try {
			return await readRegularFile(this.path, MAX_SHARED_FILE_BYTES);
		} catch (error) {
			throw error instanceof FileRejectedError ? unreadableError(this.path, error.message) : error;
		}
	}

	async #checkLocation(): Promise<void> {
		if (await isWithin(dirname(this.path), this.#root)) return;
		throw unreadableError(this.path, `a link leads out of ${this.#root}`);
	}
}

const unreadableError = (path: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_MAIL_UNREADABLE',
		`${path} cannot be used: ${reason}. The file was left unchanged.`,
		'Repair it, or move it away to start with an empty one.',
		{path},
	);

const tooLargeError = (path: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${path} would exceed the limit of ${MAX_SHARED_FILE_BYTES / 2 ** 20} MiB.`,
		'Its owner must read and remove old mail first.',
		{path},
	);
