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

/** Others stop to work well at a tenth of it. */
const MAX_SHARED_FILE_BYTES = 32 * 2 ** 20;
const READ_ATTEMPTS = 4;
const READ_RETRY_MS = 17;
/** How often the file may be another one just before it is replaced. */
const MAX_EDIT_ATTEMPTS = 50;

/** A file that other programs write to as well, some of them in place, so that one may see it half written. */
export class SharedFile {
	readonly path: string;
	readonly #root: string;

	/** `root` is the folder that it must be in, whatever links there are. */
	constructor(path: string, root: string) {
		this.path = path;
		this.#root = root;
	}

	/**
	 * Changes when the file does; undefined where there is none. It is looked at at once: whoever waits for a thread to do
	 * that waits longer, as others write to disk there.
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
	 * What `understand` makes of its content, which is undefined where there is no file. What is torn may be being written:
	 * it is looked at again, in the end while nobody writes.
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
	 * Replaces the content by what `edit` makes of it, or leaves it if that is nothing. Nobody's change is lost: others are
	 * kept away where they can be, and if one was quicker all the same, it is done once more on what is there then. What
	 * cannot be understood is never replaced.
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
			throw unreadableError(this.path, 'it changes all the time');
		});
		if (isChanged) await syncFolder(dirname(this.path));
	}

	/** What is torn is looked at again. */
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
		`${path} cannot be understood: ${reason}. It is left as it is.`,
		'Mend it, or move it away to begin with an empty one.',
		{path},
	);

const tooLargeError = (path: string): BridgeError =>
	new BridgeError(
		'ERR_MESSAGE_TOO_LARGE',
		`${path} would become longer than ${MAX_SHARED_FILE_BYTES / 2 ** 20} MiB.`,
		'Its owner has to read and remove old mail first.',
		{path},
	);
